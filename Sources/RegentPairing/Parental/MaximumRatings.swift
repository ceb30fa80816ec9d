/// The highest rating that an account may watch in each scheme.
public struct MaximumRatings: Hashable, Sendable {
  public let ratings: [ParentalRating]

  /// Creates the maximum ratings of an account.
  ///
  /// Without any, the account may watch everything.
  public init(_ ratings: [ParentalRating] = []) {
    self.ratings = ratings
  }

  /// Whether the account may watch a resource with these ratings.
  ///
  /// A rating above the account's maximum denies it.
  ///
  /// If no rating of the resource can be compared with a maximum, the resource is denied. Otherwise a rating in an
  /// unknown scheme would switch parental controls off. A resource without ratings is allowed, and an account without a
  /// maximum may watch everything.
  public func allow(_ resource: [ParentalRating]) -> Bool {
    guard !ratings.isEmpty, !resource.isEmpty else { return true }
    let verdicts = resource.map(verdict)
    return verdicts.contains(.within) && !verdicts.contains(.above)
  }

  private enum Verdict {
    case within, above, cannotTell
  }

  private func verdict(on rating: ParentalRating) -> Verdict {
    let sameScheme = ratings.filter { $0.scheme == rating.scheme }
    guard sameScheme.isEmpty else {
      return sameScheme.allSatisfy { rating.isWithin($0) } ? .within : .above
    }
    // The account has no maximum in this scheme, so the ratings are compared by their ages.
    guard let age = rating.age, let limit = ratings.compactMap(\.age).min() else {
      return .cannotTell
    }
    return age <= limit ? .within : .above
  }
}

extension ParentalRating {
  /// Whether the rating is at most `maximum`, which has the same scheme.
  ///
  /// A value that the scheme does not define counts as too high.
  fileprivate func isWithin(_ maximum: ParentalRating) -> Bool {
    if let limit = maximum.rank { return rank.map { $0 <= limit } ?? false }
    // The scheme defines no order of ratings, so only the same rating is allowed.
    return maximum.value == value
  }
}
