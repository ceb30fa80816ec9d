internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// A viewer's attributes, not yet encrypted.
struct ViewerAttributes: Sendable {
  let device: SignedInDevice
  let userID: String
  /// What was used of the temporary pass; nil when the viewer has none.
  let use: TemporaryPassUse?

  /// The time to report if no change of the attributes was seen: the time of the sign-in, or of the start of the
  /// temporary pass.
  var since: Instant {
    let signedIn = device.authentication.issued
    return use?.started.map { max(signedIn, $0) } ?? signedIn
  }

  /// A hash of all attributes; equal attributes have equal hashes within this process.
  var digest: Int {
    var hasher = Hasher()
    for key in MetadataKey.documented { hasher.combine(value(of: key)) }
    return hasher.finalize()
  }

  /// The value of one of the viewer's attributes; nil when the viewer has none.
  func value(of key: MetadataKey) -> UserMetadataDocument.Value? {
    switch key {
    case .userID: .text(userID)
    case .mvpd: .text(device.provider.id.text)
    case .tokenSource: .text(device.authentication.source.rawValue)
    // An account without a household counts as a household of its own.
    case .householdID: device.account.map { .text($0.household?.text ?? userID) }
    case .zip: list(device.account?.attributes.zipCodes)
    case .channelID: list(device.account?.attributes.channels)
    case .maxRating: ratings
    case .remainingResources:
      device.pass.flatMap { pass in
        pass.remainingResources(use ?? TemporaryPassUse()).map { .number(Int64($0)) }
      }
    case .usedAssets:
      device.pass?.resourceLimit.map { _ in .list((use?.resources ?? []).map(\.text).sorted()) }
    case .expirationDate:
      device.pass.map { _ in .number(device.authentication.expires.milliseconds) }
    }
  }

  private func list(_ values: [String]?) -> UserMetadataDocument.Value? {
    guard let values, !values.isEmpty else { return nil }
    return .list(values)
  }

  private var ratings: UserMetadataDocument.Value? {
    guard let ratings = device.account?.attributes.maximumRatings, !ratings.isEmpty else {
      return nil
    }
    return .map(
      ratings.map { UserMetadataDocument.Entry(name: $0.scheme.name, value: $0.value) })
  }
}

extension MetadataKey {
  /// Whether the attribute reveals where the viewer lives.
  ///
  /// A requestor with a certificate gets it encrypted.
  var isPersonal: Bool { self == .zip }

  /// The attributes in the order in which the protocol lists them.
  static let documented: [MetadataKey] = [
    .userID, .householdID, .mvpd, .zip, .channelID, .maxRating, .tokenSource, .remainingResources,
    .usedAssets, .expirationDate,
  ]
}
