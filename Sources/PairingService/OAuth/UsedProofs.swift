internal import RegentCryptography
package import RegentHTTPCodec
package import HTTPServer
package import RegentOAuth
internal import RegentPairing
internal import RegentPlatform

/// Reads the proofs of keys that come with requests (RFC 9449), and takes each once.
package final class UsedProofs: Sendable {
  package static let header = HeaderName(literal: "DPoP")
  package static let nonceHeader = HeaderName(literal: "DPoP-Nonce")

  private let nonces: DPoPNonces
  private let replay = Locked(DPoPReplay())

  init() throws { nonces = DPoPNonces(try HMACKey(.sha256, Random.secret())) }

  /// How many are remembered.
  package var count: Int { replay.withLock { $0.count } }

  /// The nonce that clients are told.
  package func nonce(_ clock: ServiceClock) -> String { nonces.current(at: clock.uptime) }

  /// The proof of a request; nil when it has none.
  ///
  /// It is not used up yet: see ``take(_:_:)``.
  package func read(
    _ request: Request, at address: String, accessToken: String? = nil, _ clock: ServiceClock
  ) throws(OAuthError) -> DPoPProof? {
    let text: String?
    do throws(RequestTextError) {
      text = try request.singleHeader(Self.header)
    } catch {
      throw OAuthError(.invalidDPoPProof, "the header DPoP is there more than once: send it once")
    }
    guard let text else { return nil }
    guard let target = ProofTarget(address) else { throw OAuthError(.invalidDPoPProof, "no proof counts here") }
    let proof = try DPoPProof(
      text, for: .init(method: request.method.token, target: target, accessToken: accessToken))
    try nonces.check(proof, wall: clock.now, boot: clock.uptime)
    return proof
  }

  /// Uses a proof up: after everything else about the request was right, so that only those who have shown a client, a
  /// code or a token take room here.
  package func take(_ proof: DPoPProof, _ clock: ServiceClock) throws(OAuthError) {
    // Swift's hash is keyed anew in every process: nobody can choose two proofs that collide.
    let hash = UInt64(bitPattern: Int64(proof.fingerprint.hashValue))
    switch replay.withLock({ $0.take(hash, at: clock.uptime) }) {
    case .fresh: return
    case .used: throw OAuthError(.invalidDPoPProof, "the proof was used before: make one for each request")
    case .full: throw OAuthError(.temporarilyUnavailable, "too many proofs at once: try again in a minute")
    }
  }
}

/// The assertions of clients that were used: each counts once, until its time is over.
package final class UsedAssertions: Sendable {
  /// Only clients with a key that is registered get here; ten minutes of a hundred a second.
  static let capacity = 65_536
  /// How many those may have together that registered themselves: anybody may be one, and must not take the places of
  /// the clients that operators and statements brought.
  static let strangersCapacity = 16_384

  private let used: Locked<Table>
  private let strangers: Locked<Table>

  package init(capacity: Int = UsedAssertions.capacity, strangers: Int = UsedAssertions.strangersCapacity) {
    used = Locked(Table(most: capacity))
    self.strangers = Locked(Table(most: strangers))
  }

  /// How many are remembered, and how many of clients that registered themselves.
  package var counts: (others: Int, strangers: Int) {
    (used.withLock { $0.expiries.count }, strangers.withLock { $0.expiries.count })
  }

  /// Uses an assertion up; `isStrange` when its client registered itself.
  func take(_ assertion: ClientAssertion.Checked, isStrange: Bool, at now: Instant) throws(OAuthError) {
    let verdict =
      isStrange
      ? strangers.withLock { $0.take(assertion, at: now) } : used.withLock { $0.take(assertion, at: now) }
    guard let isFresh = verdict else {
      throw OAuthError(.temporarilyUnavailable, "too many assertions at once: try again in a minute")
    }
    guard isFresh else { throw OAuthError(.invalidClient, "the assertion was used before: make one for each request") }
  }

  private struct Table: Sendable {
    let most: Int
    var expiries: [[UInt8]: Instant] = [:]
    /// When the first of those is over that were there the last time that it was full: before, there is no use in
    /// walking through all of them with each call of a crowd.
    private var nextEnd: Instant?

    init(most: Int) { self.most = most }

    /// - Returns: whether it was not used before; nil when there is no place.
    mutating func take(_ assertion: ClientAssertion.Checked, at now: Instant) -> Bool? {
      if expiries.count >= most, nextEnd.map({ $0 <= now }) ?? true {
        expiries = expiries.filter { now < $0.value + ClientAssertion.tolerance }
        nextEnd = expiries.values.min().map { $0 + ClientAssertion.tolerance }
      }
      guard expiries.count < most else { return nil }
      return expiries.updateValue(assertion.expires, forKey: assertion.fingerprint) == nil
    }
  }
}
