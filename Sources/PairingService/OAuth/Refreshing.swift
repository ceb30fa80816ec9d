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
    guard let grant = state.grant, grant.client == client.record.id else { throw Self.refused }
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
    case .again where state.isPaused:
      // Whoever comes again later, as the 503 says, would come with a token that counts as stolen by then. What is
      // given again here opens nothing before the switch is on.
      try core.limits.take(.grant(id), at: client.record.requestor)
      if let proof { try core.oauth.proofs.take(proof, core.clock) }
      return try again(grant, at: now)
    case .again:
      try core.admit(state.standing(), with: proof)
      return try again(grant, at: now)
    case .rotate:
      let standing = try state.standing()
      try core.admit(standing, with: proof)
      return try await rotate(standing, shown, scope, client, at: now)
    }
  }

  /// Whether the machine's clock is ahead, as far as anybody can tell: what is over by it alone may not be over.
  private var isInDoubt: Bool { core.age.doubt != nil }

  private func rotate(
    _ standing: StandingGrant, _ shown: Int64, _ wanted: String?, _ client: AuthenticatedClient, at now: Instant
  ) async throws -> [UInt8] {
    // Never more than the client may have now.
    let scope = try Scope(standing.grant.scope).narrowed(to: wanted).limited(to: client.metadata.scope)
    guard !scope.names.isEmpty else { throw OAuthError(.invalidScope, "this client may have none of these any more") }
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
    return try again(kept, at: now)
  }

  private func again(_ grant: GrantRecord, at now: Instant) throws -> [UInt8] {
    guard let answer = TokenPairs.again(grant, at: now) else { throw Self.refused }
    core.metrics.count(.refreshesRepeated)
    return answer
  }

  private func end(_ grant: GrantRecord, _ client: AuthenticatedClient) async throws {
    core.metrics.count(.refreshTokensReused)
    let line = core.audit.entry(
      .service, "grant.end", grant.id.text, .refused,
      detail: "an old refresh token of \(client.record.name) was used again")
    try await core.signInTransitions.endGrants(GrantFilter(id: grant.id), audit: line)
  }
}
