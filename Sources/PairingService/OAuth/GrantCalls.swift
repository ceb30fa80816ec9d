internal import HTTPServer
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentOAuth
internal import RegentPairing
internal import RegentPairingWire

/// Requests of protocol V1 with an OAuth access token.
///
/// The token determines requestor and device; a request that names others is refused.
struct GrantCalls: Sendable {
  private let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  func answer(_ request: Request, _ words: V1Words) -> Answer {
    let request = request.forgetting
    let frame = V1Frame(core: core, format: words.format, isCrossOrigin: words.isCrossOrigin)
    return .later { [self] reply in
      Task {
        do {
          let call = try await call(request, words)
          switch frame.perform(try words.work(call)) {
          case .now(let response): reply.complete(response)
          case .later(let go): go(reply)
          }
        } catch let error as OAuthError {
          reply.complete(OAuthFrame(core).refusal(ofToken: error, for: .entitlements, to: request))
        } catch {
          reply.complete(frame.response(failure: error))
        }
      }
    }
  }

  private func call(_ request: Request, _ words: V1Words) async throws -> V1Call {
    let refused = OAuthError(.invalidToken, "the access token is not valid or has expired: get a new one")
    guard let shown = try TokenCredential(request), let claims = core.claims(ofAccessToken: shown.token),
      // A token for another API is not accepted here, even from its own client.
      claims.audience.utf8.elementsEqual(core.options.publicURL.utf8)
    else { throw refused }
    guard words.takesGrants else {
      throw OAuthError(.invalidRequest, "this call accepts no OAuth access token: sign it as protocol.md describes")
    }
    guard claims.scope.contains(.entitlements) else {
      throw OAuthError(.insufficientScope, "the access token does not have the scope for this call")
    }
    let address = core.options.publicURL + String(decoding: request.path, as: UTF8.self)
    let proof = try shown.check(claims, request, at: address, core)
    guard let standing = try await core.standing(claims) else { throw refused }
    let provisioned = core.provisioning.now
    guard let requestor = provisioned.requestor(standing.client.requestor) else { throw refused }
    try words.mustName(requestor.id)
    let signIn = standing.signIn.record
    let device = CallDevice(id: signIn.device, hash: signIn.deviceHash)
    if let named = try words.device(core.hasher), named.hash != device.hash {
      throw CallError(
        .badRequest, details: "the access token belongs to another device", code: .invalidDeviceID)
    }
    try core.admit(standing.signIn.record, with: proof)
    let caller = Caller.grant(requestor.id, standing.client.id, standing.grant.id)
    return V1Call(
      request: request, words, caller: caller, requestor: requestor, provisioned: provisioned, now: core.clock.now,
      hasher: core.hasher, device: device)
  }
}
