internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentOAuth
internal import RegentPairing

/// Exchanges an approved device code for tokens; a code can be redeemed once.
///
/// A client that lost the response can get the same response again.
struct CodeRedemption: Sendable {
  private let core: ServiceCore
  private let pairs: TokenPairs

  init(_ core: ServiceCore) {
    self.core = core
    pairs = TokenPairs(core)
  }

  /// The response with the tokens for an approved device code.
  ///
  /// The caller has authenticated `client`.
  func tokens(
    for text: String, _ verifier: String?, _ call: OAuthCall, _ client: AuthenticatedClient
  ) async throws -> [UInt8] {
    guard let code = DeviceCode(text) else { throw OAuthError.unknownCode }
    try await core.codeLooks.look(at: code.registration)
    guard let known = core.askedCode(code), known.asked.client == client.record.id else {
      throw OAuthError.unknownCode
    }
    let asked = known.asked
    let answer = DeviceAnswer(known.flow, at: core.clock.now)
    switch answer {
    case .pending: throw core.notYet(known.id, of: known.device, at: known.requestor)
    case .denied, .expired, .unknown: throw OAuthError.ended(answer)
    case .approved: break
    }
    // The rate limit applies even to a code that was redeemed long ago, because each attempt signs tokens and opens a
    // transaction.
    do throws(CallError) {
      try core.limits.take(known.device, at: known.requestor)
    } catch {
      throw OAuthError.slowDown
    }
    try CodeChallenge.check(asked.challenge.flatMap { CodeChallenge(kept: $0) }, verifier)
    let proof = try core.proof(call)
    guard asked.thumbprint == nil || asked.thumbprint == proof?.thumbprint else {
      throw OAuthError(.invalidGrant, "the code was requested with a DPoP proof: send a proof of the same key")
    }
    guard let viewer = known.flow.state.approval?.viewer else { throw OAuthError.unknownCode }
    if let proof { try core.oauth.proofs.take(proof, of: .signedIn(viewer), core.clock) }
    let signIn: ValidSignIn
    switch try await pickUp(known.known.record) {
    case .success(let standing): signIn = standing
    case .failure(let pause): return try await lostAnswer(known.known.record, pause, client, proof?.thumbprint)
    }
    // The client gets no more than its present scope: an operator may have reduced it since the client asked for the
    // code.
    let scope = try Scope(asked.scope).limited(to: client.metadata.scope)
    guard !scope.isEmpty else {
      throw OAuthError(.invalidScope, "this client is no longer allowed any of these scopes")
    }
    return try await keep(signIn, scope, client, proof?.thumbprint, known.known.record)
  }

  /// The error for an approved code whose account or integration is disabled.
  ///
  /// A disabled account is reported as a refusal, so that the client shows it instead of waiting until the code
  /// expires. A disabled integration is reported as "pending", so that every client asks again and redeems the code
  /// when the integration is enabled.
  private func notNow(_ record: RegistrationRecord, _ pause: AuthenticationRefusal) -> OAuthError {
    guard core.clock.now < record.flow.expires else { return OAuthError.ended(.expired) }
    if pause == .accountDisabled { return OAuthError(.accessDenied, "the account that approved the code is disabled") }
    return core.notYet(record.id, of: record.deviceHash, at: record.requestor)
  }

  /// The response, while the account or integration is disabled, for a code that may have been redeemed before that.
  ///
  /// A lost response is repeated at once, as for a refresh. If the client were told "pending", it would come again
  /// after the pause, when the minute for repeated responses is over. The tokens cannot be used before the pause ends.
  private func lostAnswer(
    _ record: RegistrationRecord, _ pause: AuthenticationRefusal, _ client: AuthenticatedClient, _ thumbprint: String?
  ) async throws -> [UInt8] {
    guard let signIn = record.flow.state.approval?.authentication else { throw notNow(record, pause) }
    let now = core.clock.now
    let kept = try await core.store.grants(GrantFilter(authentication: signIn), after: nil, limit: 1, at: now).first
    guard let kept else { throw notNow(record, pause) }
    return try again(kept, client, thumbprint, at: now)
  }

  /// Repeats the response to an earlier redemption, if the same client proves the same key within the time in which a
  /// response may have been lost.
  private func again(
    _ kept: GrantRecord, _ client: AuthenticatedClient, _ thumbprint: String?, at now: Instant
  ) throws(OAuthError) -> [UInt8] {
    guard kept.client == client.record.id, kept.generation == 0, kept.thumbprint == thumbprint,
      now.since(kept.rotated) <= RefreshFamily(kept).grace, let again = TokenPairs.again(kept, at: now)
    else { throw OAuthError(.invalidGrant, "the code was used before: a code works once") }
    return again.bytes()
  }

  /// Reads the sign-in that the approval created, or the reason why it is paused.
  ///
  /// The first read marks the code as delivered.
  private func pickUp(_ record: RegistrationRecord) async throws -> Result<ValidSignIn, AuthenticationRefusal> {
    do throws(StoreError) {
      let pickUp = try await core.signInTransitions.pickUp(record.deviceHash, at: record.requestor, of: nil)
      guard let signIn = pickUp.signIn, signIn.record.registration == record.id else {
        throw .notFound(what: "authentication")
      }
      return .success(signIn)
    } catch {
      switch error {
      case .notInForce(let refusal) where refusal.isPause: return .failure(refusal)
      case .notInForce:
        throw OAuthError(.accessDenied, "the account that approved the code was removed or is no longer valid")
      case .notFound: throw OAuthError.unknownCode
      default: throw error
      }
    }
  }

  private func keep(
    _ signIn: ValidSignIn, _ scope: Scope, _ client: AuthenticatedClient, _ thumbprint: String?,
    _ code: RegistrationRecord
  ) async throws -> [UInt8] {
    let now = core.clock.now
    guard let id = GrantID(Random.uuid()) else { throw KeyError.inconsistent }
    let answer = try await pairs.make(
      TokenPairs.Wanted(
        grant: id, generation: 0, scope: scope, thumbprint: thumbprint, refreshes: scope.contains(.offlineAccess)),
      signIn, client, at: now
    ).bytes()
    let grant = GrantRecord(
      id: id, client: client.record.id, authentication: signIn.authentication.id, scope: scope.text,
      thumbprint: thumbprint, created: now, idle: RefreshFamily.idle, ends: signIn.authentication.expires,
      rowKey: signIn.record.rowKey, generation: 0, rotated: now, answer: StoredSecret(answer))
    let kept: GrantRecord
    do throws(StoreError) {
      kept = try await core.store.keep(grant, at: now)
    } catch {
      switch error {
      case .notInForce(let refusal) where refusal.isPause: throw notNow(code, refusal)
      case .notInForce, .notFound: throw OAuthError.unknownCode
      default: throw error
      }
    }
    if kept.id == id {
      core.metrics.count(.grantsBegun)
      return answer
    }
    return try again(kept, client, thumbprint, at: now)
  }
}

extension RefreshFamily {
  /// How long a grant may stay unused before it ends.
  static let idle: Duration = .seconds(30 * 86_400)

  init(_ grant: GrantRecord) {
    self.init(
      generation: grant.generation, rotated: grant.rotated, created: grant.created, thumbprint: grant.thumbprint,
      idle: grant.idle, absolute: grant.ends.since(grant.created))
  }
}
