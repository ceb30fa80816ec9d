internal import HTTPServer
internal import PairingStore
internal import RegentOAuth
internal import RegentPairing

/// Makes the next tokens of a grant, and ends the grant whose token somebody else has.
struct Refreshing: Sendable {
  private let core: ServiceCore
  private let pairs: TokenPairs

  init(_ core: ServiceCore) {
    self.core = core
    pairs = TokenPairs(core)
  }

  private static let refused = OAuthError(.invalidGrant, "this refresh token does not count: pair again")

  /// The answer, as it is sent.
  func next(_ text: String, scope: String?, _ call: OAuthCall, _ client: AuthenticatedClient) async throws -> [UInt8] {
    guard let (id, shown) = core.oauth.refreshTokens.read(text) else { throw Self.refused }
    let now = core.clock.now
    let state = try await core.state(of: id)
    // Another client's token is none, and says nothing about the grant: whoever found it cannot end it either.
    guard let grant = state.grant, let signIn = state.signIn, grant.client == client.record.id else {
      throw Self.refused
    }
    let proof = try core.proof(call)
    switch RefreshFamily(grant).verdict(on: shown, key: proof?.thumbprint, at: now) {
    case .over where isInDoubt, .stolen where isInDoubt: throw OAuthError.paused
    case .unknown, .over: throw Self.refused
    case .wrongKey:
      throw OAuthError(.invalidGrant, "the refresh token is bound to a key: send a proof of that key")
    case .stolen:
      // Also while it is switched off: a thief must not be given time.
      try await end(grant, client)
      throw Self.refused
    case .again:
      // In a pause too: whoever comes again later, as the 503 says, would come with a token that counts as stolen by
      // then. What is given again here opens nothing before the switch is on.
      try core.admit(signIn, with: proof)
      return try await again(grant, scope, state, client, at: now)
    case .rotate:
      try core.admit(signIn, with: proof)
      guard case .stands(let standing) = state else {
        try await prolong(grant, at: now)
        throw OAuthError.paused
      }
      return try await rotate(standing, shown, scope, client, at: now)
    }
  }

  /// A try in a pause counts as a use for the idle time, and for nothing else: what the token before is worth is no
  /// matter of it.
  ///
  /// Written once a day at most, so that a client that tries all day costs nothing.
  private func prolong(_ grant: GrantRecord, at now: Instant) async throws {
    let idle = now.since(grant.rotated) + RefreshFamily.idle
    guard !isInDoubt, idle >= grant.idle + .seconds(86_400) else { return }
    var longer = grant
    longer.idle = idle
    try await core.store.prolong(longer, at: now)
  }

  /// Whether the machine's clock is ahead, as far as anybody can tell: what is over by it alone may not be over.
  private var isInDoubt: Bool { core.age.doubt != nil }

  private func rotate(
    _ standing: StandingGrant, _ shown: Int64, _ wanted: String?, _ client: AuthenticatedClient, at now: Instant
  ) async throws -> [UInt8] {
    // Never more than the client may have now.
    let scope = try Scope(standing.grant.scope).narrowed(to: wanted).limited(to: client.metadata.scope)
    guard !scope.isEmpty else { throw OAuthError(.invalidScope, "this client may have none of these any more") }
    let answer = try await pairs.make(
      TokenPairs.Wanted(
        grant: standing.grant.id, generation: shown + 1, scope: scope, thumbprint: standing.grant.thumbprint,
        refreshes: true),
      standing.signIn, client, at: now
    ).bytes()
    var next = standing.grant
    next.generation = shown + 1
    // Used while the clock stood in another year, it would be over as soon as that is mended.
    next.rotated = next.rotated.since(now) > next.idle ? next.rotated : now
    next.idle = RefreshFamily.idle
    next.answer = StoredSecret(answer)
    let kept: GrantRecord
    do throws(StoreError) {
      kept = try await core.store.rotate(next, seen: standing.version, at: now)
    } catch {
      switch error {
      case .notInForce(let refusal) where refusal.isPause: throw OAuthError.paused
      case .notInForce, .notFound: throw Self.refused
      default: throw error
      }
    }
    if kept == next {
      core.metrics.count(.grantsRefreshed)
      return answer
    }
    // Somebody with the same token was quicker by a moment: one of the two is the box that did not wait for its answer.
    guard kept.generation == shown + 1 else { throw Self.refused }
    return try await again(kept, wanted, .stands(standing), client, at: now)
  }

  /// The answer before, of which somebody says that it got lost; never for more than is asked for this time.
  private func again(
    _ grant: GrantRecord, _ wanted: String?, _ state: GrantState, _ client: AuthenticatedClient, at now: Instant
  ) async throws -> [UInt8] {
    guard let answer = TokenPairs.again(grant, at: now) else { throw Self.refused }
    let allowed = try Scope(grant.scope).narrowed(to: wanted)
    let given = try Scope(answer.scope ?? grant.scope)
    core.metrics.count(.refreshesRepeated)
    guard !given.isSubset(of: allowed) else { return answer.bytes() }
    let scope = allowed.limited(to: client.metadata.scope)
    guard case .stands(let standing) = state, !scope.isEmpty else {
      throw OAuthError(.invalidScope, "the answer that got lost was for another scope: ask for that one")
    }
    // The refresh token stays the one that was given: only the access token is another.
    return try await pairs.make(
      TokenPairs.Wanted(
        grant: grant.id, generation: grant.generation, scope: scope, thumbprint: grant.thumbprint, refreshes: true),
      standing.signIn, client, at: now
    ).bytes()
  }

  private func end(_ grant: GrantRecord, _ client: AuthenticatedClient) async throws {
    core.metrics.count(.refreshTokensReused)
    let line = core.audit.entry(
      .service, "grant.end", grant.id.text, .refused,
      detail: "an old refresh token of \(client.record.name.quoted) was used again")
    try await core.signInTransitions.endGrants(GrantFilter(id: grant.id), audit: line)
  }
}
