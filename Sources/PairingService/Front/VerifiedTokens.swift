internal import RegentPlatform

/// Access tokens whose signature has been checked: a box polls with the same one for hours.
///
/// What they say about the present (their end, their application) is asked anew each time.
final class VerifiedTokens: Sendable {
  /// About 4 MiB when full; beyond that all are forgotten and checked again.
  private let most: Int
  private let claims = Locked([String: AccessTokens.Claims]())

  init(most: Int = 10_000) { self.most = most }

  var count: Int { claims.withLock { $0.count } }

  subscript(text: String) -> AccessTokens.Claims? {
    get { claims.withLock { $0[text] } }
    set {
      claims.withLock { claims in
        if claims.count >= most { claims.removeAll() }
        claims[text] = newValue
      }
    }
  }
}
