internal import HTTPServer
internal import PairingStore
internal import RegentOAuth
internal import RegentPairing

/// Exchanges refresh tokens: issues the next tokens of a grant, and ends the grant when a used token shows that it was
/// stolen.
struct Refreshing: Sendable {
  private let core: ServiceCore
  private let pairs: TokenPairs

  init(_ core: ServiceCore) {
    self.core = core
    pairs = TokenPairs(core)
  }

  private static let refused = OAuthError(.invalidGrant, "the refresh token is not valid any more: sign in again")

  /// Exchanges a refresh token, and returns the body of the response with the next tokens.
  func next(_ text: String, scope: String?, _ call: OAuthCall, _ client: AuthenticatedClient) async throws -> [UInt8] {
    guard let (id, shown) = core.oauth.refreshTokens.read(text) else { throw Self.refused }
    let now = core.clock.now
    let state = try await core.state(of: id)
    // A token of another client's grant is treated as invalid and reveals nothing about the grant. A client that found
    // such a token cannot end the grant with it either.
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
      // The grant is ended even while it is paused: a thief must not be given time.
      try await end(grant, client)
      throw Self.refused
    case .again:
      // The response is repeated even while the grant is paused. The client would otherwise come again later, as the
      // 503 asks, and by then its token would count as stolen. The repeated tokens cannot be used until the pause ends.
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

  /// Restarts the idle time of a grant, because its client tried to refresh during a pause.
  ///
  /// The restart does not change which token responses may be repeated. It is written at most once a day, so that a
  /// client that tries all the time causes few writes.
  private func prolong(_ grant: GrantRecord, at now: Instant) async throws {
    let idle = now.since(grant.rotated) + RefreshFamily.idle
    guard !isInDoubt, idle >= grant.idle + .seconds(86_400) else { return }
    var longer = grant
    longer.idle = idle
    try await core.store.prolong(longer, at: now)
  }

  /// Whether the clock seems to be ahead.
  ///
  /// A grant that has expired by such a clock may still be valid.
  private var isInDoubt: Bool { core.age.doubt != nil }

  private func rotate(
    _ standing: ValidGrant, _ shown: Int64, _ wanted: String?, _ client: AuthenticatedClient, at now: Instant
  ) async throws -> [UInt8] {
    // The next tokens get no more than the client's present scope.
    let scope = try Scope(standing.grant.scope).narrowed(to: wanted).limited(to: client.metadata.scope)
    guard !scope.isEmpty else {
      throw OAuthError(.invalidScope, "this client is no longer allowed any of the scopes of its grant")
    }
    let answer = try await pairs.make(
      TokenPairs.Wanted(
        grant: standing.grant.id, generation: shown + 1, scope: scope, thumbprint: standing.grant.thumbprint,
        refreshes: true),
      standing.signIn, client, at: now
    ).bytes()
    var next = standing.grant
    next.generation = shown + 1
    // A last use that is more than the idle time in the future was probably written before the clock was set back. It
    // is kept: with the present time, the grant would expire as soon as the clock is corrected.
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
    // Another request with the same token was faster. It may come from the same box, which did not wait for its first
    // response.
    guard kept.generation == shown + 1 else { throw Self.refused }
    return try await again(kept, wanted, .stands(standing), client, at: now)
  }

  /// Repeats the response to the last refresh, which the client seems not to have got.
  ///
  /// If the client asks for a smaller scope this time, it gets an access token for that scope.
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
      throw OAuthError(.invalidScope, "the lost response was for another scope: repeat the request with that scope")
    }
    // The response repeats the refresh token; only the access token is new.
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
