internal import RegentPlatform

/// A cache of tokens whose signature was verified, with their claims: a box polls with the same token for hours, and an
/// API receives it with each call.
///
/// Whatever can change (expiry, application, grant) is checked again at each use.
final class VerifiedTokens<Claims: Sendable>: Sendable {
  private struct Verified {
    let bytes: Int
    let claims: Claims
  }

  /// When the cache has this many entries, it is emptied, and tokens are verified again.
  private let most: Int
  private let claims = Locked([String: Verified]())

  init(most: Int = 10_000) { self.most = most }

  var count: Int { claims.withLock { $0.count } }

  subscript(text: String) -> Claims? {
    get {
      guard let found = claims.withLock({ $0[text] }) else { return nil }
      // Swift compares strings by canonical equivalence: the Kelvin sign equals the letter K. A token is ASCII, one
      // byte for each letter, so an equivalent string that is not identical has more bytes.
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
