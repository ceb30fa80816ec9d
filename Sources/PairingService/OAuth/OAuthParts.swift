internal import PairingStore
package import RegentCryptography
package import RegentOAuth
package import RegentPairing
internal import RegentPlatform

/// What answers clients that speak OAuth: its keys, and what is remembered of questions and proofs.
///
/// All that survives a restart is in the store; what is here begins anew and says so: a first question is never early,
/// nonces of another process are old ones, and proofs and assertions of before the start are made again.
package final class OAuthParts: Sendable {
  /// What clients find out about the service by themselves, and how its addresses are written everywhere.
  package let metadata: ServerMetadata
  /// The keys that sign access and ID tokens, and nothing else.
  package let keys: SigningKeys
  let refreshTokens: RefreshTokens
  let paces: PollPaces
  let proofs: UsedProofs
  let assertions: UsedAssertions
  /// Clients and grants that stood a moment ago.
  package let standing: StandingMemory
  /// Access tokens whose signature was checked.
  let accessTokens = VerifiedTokens<VerifiedAccessToken>()
  private let making: KeyMaking

  init(
    _ options: ServiceOptions, store: any Store, clock: ServiceClock, usedAssertions: [String]
  ) async throws {
    metadata = ServerMetadata(issuer: options.publicURL + "/oauth", hasRegistration: true)
    keys = try await SigningKeys(store, for: .oauth, lead: options.signingKeyLead)
    refreshTokens = try await RefreshTokens(store)
    paces = PollPaces()
    // A service alone has no use for nonces that live longer than its memory of proofs.
    proofs = try UsedProofs(store.isShared ? refreshTokens.nonces() : nil, startingAt: clock)
    assertions = UsedAssertions(startingAt: clock.now, keptAs: usedAssertions)
    standing = StandingMemory()
    making = KeyMaking(keys)
  }

  /// The key that signs with an algorithm now; the first one is made when somebody needs it.
  package func key(
    _ algorithm: SignatureAlgorithm, at now: Instant
  ) async throws -> (id: SigningKeyID, key: SigningKey) {
    if let key = keys.current(algorithm, at: now) { return key }
    try await making.ensure(algorithm, at: now)
    guard let key = keys.current(algorithm, at: now) else { throw KeyError.inconsistent }
    return key
  }
}

/// Makes first keys one at a time: of many who need one at once, one makes it.
private actor KeyMaking {
  private let keys: SigningKeys
  private var under: [SignatureAlgorithm: Task<Void, any Error>] = [:]

  init(_ keys: SigningKeys) { self.keys = keys }

  func ensure(_ algorithm: SignatureAlgorithm, at now: Instant) async throws {
    let task = under[algorithm] ?? Task { [keys] in try await keys.ensure(algorithm, at: now) }
    under[algorithm] = task
    defer { under[algorithm] = nil }
    try await task.value
  }
}
