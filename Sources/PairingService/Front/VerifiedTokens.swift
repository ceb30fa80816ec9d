internal import RegentPlatform

/// A cache of access tokens whose signature was verified, with their claims.
///
/// A box polls with the same token for hours, and an API receives it with each request. Whatever can change (expiry,
/// application, grant) is checked again at each use.
final class VerifiedTokens<Claims: Sendable>: Sendable {
  private struct Verified {
    let bytes: Int
    let claims: Claims
  }

  /// The number of tokens at which the cache is emptied; then tokens are verified again.
  private let most: Int
  private let claims = Locked([String: Verified]())

  init(most: Int = 10_000) { self.most = most }

  var count: Int { claims.withLock { $0.count } }

  subscript(text: String) -> Claims? {
    get {
      guard let found = claims.withLock({ $0[text] }) else { return nil }
      // Swift compares strings by canonical equivalence: the Kelvin sign equals the letter K. A token is ASCII, with
      // one byte for each letter. A string that is equivalent to it, but not identical, has more bytes.
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
