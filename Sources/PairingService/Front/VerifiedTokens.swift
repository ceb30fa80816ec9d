internal import RegentPlatform

/// Tokens whose signature has been checked, with what they say: a box polls with the same one for hours, and an API is
/// shown it with each call.
///
/// What they say about the present (their end, their application, their grant) is asked anew each time.
final class VerifiedTokens<Claims: Sendable>: Sendable {
  private struct Verified {
    let bytes: Int
    let claims: Claims
  }

  /// Beyond so many all are forgotten and checked again.
  private let most: Int
  private let claims = Locked([String: Verified]())

  init(most: Int = 10_000) { self.most = most }

  var count: Int { claims.withLock { $0.count } }

  subscript(text: String) -> Claims? {
    get {
      guard let found = claims.withLock({ $0[text] }) else { return nil }
      // Swift's texts are equal when they look the same: a Kelvin sign is a K. Tokens are ASCII, in which each letter
      // is one byte, and whatever looks like it has more.
      return found.bytes == text.utf8.count ? found.claims : nil
    }
    set {
      claims.withLock { claims in
        if claims.count >= most { claims.removeAll() }
        claims[text] = newValue.map { Verified(bytes: text.utf8.count, claims: $0) }
      }
    }
  }
}
