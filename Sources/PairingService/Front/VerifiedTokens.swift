internal import RegentPlatform

/// Access tokens whose signature has been checked: a box polls with the same one for hours.
///
/// What they say about the present (their end, their application) is asked anew each time.
final class VerifiedTokens: Sendable {
  /// About 4 MiB when full; beyond that all are forgotten and checked again.
  private static let most = 10_000
  private let claims = Locked([String: AccessTokens.Claims]())

  subscript(text: String) -> AccessTokens.Claims? {
    get { claims.withLock { $0[text] } }
    set {
      claims.withLock { claims in
        if claims.count >= Self.most { claims.removeAll() }
        claims[text] = newValue
      }
    }
  }
}
