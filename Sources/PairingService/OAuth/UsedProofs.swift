internal import RegentCryptography
package import RegentHTTPCodec
package import HTTPServer
package import RegentOAuth
internal import RegentPairing
internal import RegentPlatform

/// Reads the DPoP proofs of requests (RFC 9449) and accepts each once.
package final class UsedProofs: Sendable {
  package static let header = HeaderName(literal: "DPoP")
  package static let nonceHeader = HeaderName(literal: "DPoP-Nonce")

  private let nonces: DPoPNonces
  /// The DPoP nonces that all nodes accept; nil when this process is the only node.
  private let shared: Locked<SharedNonces?>
  private let replay = Locked(DPoPReplay())
  private let forgotten: Locked<ForgottenProofs>

  init(_ shared: SharedNonces? = nil, startingAt clock: ServiceClock) throws {
    forgotten = Locked(ForgottenProofs(wall: clock.now, boot: clock.uptime))
    nonces = DPoPNonces(try HMACKey(.sha256, Random.secret()))
    self.shared = Locked(shared)
  }

  package var count: Int { replay.withLock { $0.count } }

  /// The DPoP nonce that the service sends to clients now.
  ///
  /// A client puts this nonce into its next proof.
  package func nonce(_ clock: ServiceClock) -> String {
    shared.withLock { $0?.current(at: clock.now) } ?? nonces.current(at: clock.uptime)
  }

  /// Reads and verifies the DPoP proof of a request; nil when the request has none.
  ///
  /// The proof is not marked as used yet: see ``take(_:of:_:)``.
  package func read(
    _ request: Request, at address: String, accessToken: String? = nil, _ clock: ServiceClock
  ) throws(OAuthError) -> DPoPProof? {
    let text: String?
    do throws(RequestTextError) {
      text = try request.singleHeader(Self.header)
    } catch {
      throw OAuthError(.invalidDPoPProof, "the header DPoP was sent more than once: send it once")
    }
    guard let text else { return nil }
    guard let target = ProofTarget(address) else {
      throw OAuthError(.invalidDPoPProof, "this request accepts no DPoP proof")
    }
    let proof = try DPoPProof(
      text, for: .init(method: request.method.token, target: target, accessToken: accessToken))
    if let nonce = proof.nonce, shared.withLock({ $0?.isValid(nonce, at: clock.now) ?? false }) { return proof }
    try nonces.check(proof, wall: clock.now, boot: clock.uptime)
    if proof.nonce == nil, forgotten.withLock({ $0.has(proof, wall: clock.now, boot: clock.uptime) }) {
      throw DPoPNonces.useNonce
    }
    return proof
  }

  /// Marks a DPoP proof as used.
  ///
  /// Call it after all other checks of the request and after the rate limit of its sender.
  package func take(
    _ proof: DPoPProof, of owner: DPoPReplay.Owner, _ clock: ServiceClock
  ) throws(OAuthError) {
    try allow(replay.withLock { $0.take(Self.hash(proof), of: owner, at: clock.uptime) })
  }

  /// Throws the error that ``take(_:of:_:)`` would throw, without marking the DPoP proof as used.
  package func look(_ proof: DPoPProof, of owner: DPoPReplay.Owner, _ clock: ServiceClock) throws(OAuthError) {
    try allow(replay.withLock { $0.look(Self.hash(proof), of: owner, at: clock.uptime) })
  }

  /// The number by which a used DPoP proof is remembered.
  ///
  /// Swift seeds its hashes anew in every process, so an attacker cannot choose two proofs that collide.
  private static func hash(_ proof: DPoPProof) -> UInt64 { UInt64(bitPattern: Int64(proof.fingerprint.hashValue)) }

  private func allow(_ verdict: DPoPReplay.Verdict) throws(OAuthError) {
    switch verdict {
    case .fresh: return
    case .used: throw OAuthError(.invalidDPoPProof, "the proof was used before: make a new proof for each request")
    case .full:
      throw OAuthError(.temporarilyUnavailable, "the service received too many proofs at once: try again in a minute")
    }
  }
}
