internal import PairingStore
package import RegentCryptography
package import RegentOAuth
package import RegentPairing
internal import RegentPlatform

/// The state of the OAuth endpoints: keys, poll intervals, used proofs and assertions, caches.
///
/// Everything that must survive a restart is in the store. The rest starts empty, which is safe. The first poll is
/// never too early, nonces of the earlier process are refused as old, and clients must renew proofs and assertions from
/// before the start.
package final class OAuthParts: Sendable {
  /// The server metadata, which clients read and which holds the addresses of the endpoints.
  package let metadata: ServerMetadata
  /// The keys that sign access and ID tokens, and nothing else.
  package let keys: SigningKeys
  let refreshTokens: RefreshTokens
  let paces: PollPaces
  let proofs: UsedProofs
  let assertions: UsedAssertions
  /// Caches clients and grants that were recently valid.
  package let standing: GrantCache
  let accessTokens = VerifiedTokens<VerifiedAccessToken>()
  private let making: KeyMaking

  init(
    _ options: ServiceOptions, store: any Store, clock: ServiceClock, usedAssertions: [String]
  ) async throws {
    metadata = ServerMetadata(issuer: options.publicURL + "/oauth", hasRegistration: true)
    keys = try await SigningKeys(store, for: .oauth, lead: options.signingKeyLead)
    refreshTokens = try await RefreshTokens(store)
    paces = PollPaces()
    // A single service does not use nonces that other nodes accept, because they would stay valid longer than it
    // remembers proofs.
    proofs = try UsedProofs(store.isShared ? refreshTokens.nonces() : nil, startingAt: clock)
    assertions = UsedAssertions(startingAt: clock.now, keptAs: usedAssertions)
    standing = GrantCache()
    making = KeyMaking(keys)
  }

  /// The key that currently signs tokens with an algorithm.
  ///
  /// The first key is created when it is needed.
  package func key(
    _ algorithm: SignatureAlgorithm, at now: Instant
  ) async throws -> (id: SigningKeyID, key: SigningKey) {
    if let key = keys.current(algorithm, at: now) { return key }
    try await making.ensure(algorithm, at: now)
    guard let key = keys.current(algorithm, at: now) else { throw KeyError.inconsistent }
    return key
  }
}

/// Creates the first signing keys one at a time: when many requests need a key at once, only one creates it.
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
