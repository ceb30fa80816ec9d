/// The most that an account may see, per scheme.
public struct MaximumRatings: Hashable, Sendable {
  /// One rating per scheme.
  public let ratings: [ParentalRating]

  /// Maximum ratings; without any, everything may be seen.
  public init(_ ratings: [ParentalRating] = []) {
    self.ratings = ratings
  }

  /// Whether a resource with these ratings may be seen: none of them may lie above the account's maximum.
  ///
  /// Where nobody can tell from any rating, the answer is no: a limit that an odd scheme lifts protects no child.
  /// Resources without a rating are not limited, and neither are accounts without a maximum.
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
    // Rated in a scheme that the account says nothing about: ages are what the schemes have in common.
    guard let age = rating.age, let limit = ratings.compactMap(\.age).min() else {
      return .cannotTell
    }
    return age <= limit ? .within : .above
  }
}

extension ParentalRating {
  /// Whether it lies within a maximum of the same scheme; a value that the scheme does not have never does.
  fileprivate func isWithin(_ maximum: ParentalRating) -> Bool {
    if let limit = maximum.rank { return rank.map { $0 <= limit } ?? false }
    // A scheme without an order: only the very rating that is allowed.
    return maximum.value == value
  }
}
