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
  /// Where several nodes share a store, the nonces that all of them take.
  private let shared: Locked<SharedNonces?>
  private let replay = Locked(DPoPReplay())

  init(_ shared: SharedNonces? = nil) throws {
    nonces = DPoPNonces(try HMACKey(.sha256, Random.secret()))
    self.shared = Locked(shared)
  }

  /// How many are remembered.
  package var count: Int { replay.withLock { $0.count } }

  /// The nonce that clients are told.
  package func nonce(_ clock: ServiceClock) -> String {
    shared.withLock { $0?.current(at: clock.now) } ?? nonces.current(at: clock.uptime)
  }

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
    if let nonce = proof.nonce, shared.withLock({ $0?.isValid(nonce, at: clock.now) ?? false }) { return proof }
    try nonces.check(proof, wall: clock.now, boot: clock.uptime)
    return proof
  }

  /// Uses a proof up: after everything else about the request was right, and after the limit of whoever sent it.
  package func take(
    _ proof: DPoPProof, of owner: DPoPReplay.Owner = .signedIn, _ clock: ServiceClock
  ) throws(OAuthError) {
    try allow(replay.withLock { $0.take(Self.hash(proof), of: owner, at: clock.uptime) })
  }

  /// Throws what taking the proof would throw, and leaves it as it is.
  package func look(_ proof: DPoPProof, of owner: DPoPReplay.Owner, _ clock: ServiceClock) throws(OAuthError) {
    try allow(replay.withLock { $0.look(Self.hash(proof), of: owner, at: clock.uptime) })
  }

  /// Swift's hash is keyed anew in every process: nobody can choose two proofs that collide.
  private static func hash(_ proof: DPoPProof) -> UInt64 { UInt64(bitPattern: Int64(proof.fingerprint.hashValue)) }

  private func allow(_ verdict: DPoPReplay.Verdict) throws(OAuthError) {
    switch verdict {
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
  /// How many of those it takes to fill their places: one has 1,024, which is a question every 0.6 seconds.
  private static let strangersAtLeast = 16

  private let used: Locked<Table>
  private let strangers: Locked<Table>

  package init(capacity: Int = UsedAssertions.capacity, strangers: Int = UsedAssertions.strangersCapacity) {
    used = Locked(Table(most: capacity))
    self.strangers = Locked(Table(most: strangers, ofOne: max(strangers / Self.strangersAtLeast, 1)))
  }

  /// How many are remembered, and how many of clients that registered themselves.
  package var counts: (others: Int, strangers: Int) {
    (used.withLock { $0.entries.count }, strangers.withLock { $0.entries.count })
  }

  /// Uses an assertion of a client up; `isStrange` when it registered itself.
  func take(
    _ assertion: ClientAssertion.Checked, of client: ClientID, isStrange: Bool, at now: Instant
  ) throws(OAuthError) {
    let verdict =
      isStrange
      ? strangers.withLock { $0.take(assertion, of: client, at: now) }
      : used.withLock { $0.take(assertion, of: client, at: now) }
    guard let isFresh = verdict else {
      throw OAuthError(.temporarilyUnavailable, "too many assertions at once: try again in a minute")
    }
    guard isFresh else { throw OAuthError(.invalidClient, "the assertion was used before: make one for each request") }
  }

  private struct Table: Sendable {
    struct Entry: Sendable {
      let expires: Instant
      let client: ClientID
    }

    let most: Int
    /// How many of them one client may have.
    let ofOne: Int
    private(set) var entries: [[UInt8]: Entry] = [:]
    private var counts: [ClientID: Int] = [:]
    /// When the first of those is over that were there the last time that it was full: before, there is no use in
    /// walking through all of them with each call of a crowd.
    private var nextEnd: Instant?

    init(most: Int, ofOne: Int = .max) {
      self.most = most
      self.ofOne = ofOne
    }

    /// - Returns: whether it was not used before; nil when there is no place.
    mutating func take(_ assertion: ClientAssertion.Checked, of client: ClientID, at now: Instant) -> Bool? {
      // What is there counts no more in any case: one that is over is refused before it comes here.
      guard entries[assertion.fingerprint] == nil else { return false }
      if !hasRoom(for: client), nextEnd.map({ $0 <= now }) ?? true { forget(at: now) }
      guard hasRoom(for: client) else { return nil }
      entries[assertion.fingerprint] = Entry(expires: assertion.expires, client: client)
      counts[client, default: 0] += 1
      return true
    }

    private func hasRoom(for client: ClientID) -> Bool {
      entries.count < most && counts[client, default: 0] < ofOne
    }

    private mutating func forget(at now: Instant) {
      entries = entries.filter { now < $0.value.expires + ClientAssertion.tolerance }
      nextEnd = entries.values.map(\.expires).min().map { $0 + ClientAssertion.tolerance }
      counts = entries.values.reduce(into: [:]) { $0[$1.client, default: 0] += 1 }
    }
  }
}
