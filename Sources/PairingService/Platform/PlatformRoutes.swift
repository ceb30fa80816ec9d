package import HTTPServer
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// The endpoints that sign apps in with their box's account.
///
/// An app fetches a profile request (a signed text of the service). The box signs an assertion that contains it. The
/// service exchanges the assertion for a sign-in that depends on the box's.
package struct PlatformRoutes: Sendable {
  let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// Mounts the endpoints for apps and boxes.
  ///
  /// The exchange of assertions shares its path with the polls of ``AuthenticationRoutes``, which mounts it.
  package func mount(_ routes: inout Routes) {
    let endpoints = V1Endpoints(core)
    endpoints.mount(&routes, [.get], "/api/v1/{requestor}/profile-requests/{provider}", request)
    mountBox(endpoints, &routes)
  }

  // MARK: - Calls of apps

  private func request(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    guard let name = call.path[ifCaptured: "provider"], let provider = ProviderID(name) else {
      throw .exchange(.integration)
    }
    try core.mayExchange(provider, for: call.requestor.id)
    let text: String
    do throws(JWSError) {
      text = try core.profileRequests.make(
        for: call.requestor.id, device: device.hash, provider: provider, at: call.now)
    } catch {
      core.log.error("profile-request", ("reason", "\(error)"))
      throw CallError(.internalServerError, code: .internalError)
    }
    return .reply(
      V1Reply(response: Response(.ok, type: "application/octet-stream", body: Array(text.utf8))))
  }

  /// Exchanges a box's assertion for an app's sign-in (`tokens/authn` by POST).
  func exchange(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    let text = try call.parameters.required(Field.platformResponse)
    let named = try call.parameters.required(Field.provider)
    let (profile, about) = (try call.profile(), try call.deviceDescription())
    guard let word = try? UnverifiedJWS(text, longest: PlatformAssertion.longest),
      let box = word.keyID.flatMap({ BoxID($0) }), let rowKey = call.provisioned.rowKey(of: call.requestor.id)
    else { throw CallError.exchange(.assertion) }
    try core.limits.take(.guest, from: call.request.clientAddress, at: call.requestor.id)
    let (requestor, format, wantsSignIn) = (call.requestor.id, call.format, call.request.wantsRepresentation)
    return .later { [core] in
      let now = core.clock.now
      guard let record = try await core.store.box(box, at: now) else { throw CallError.exchange(.parent) }
      guard let (assertion, request) = core.profileRequests.read(word, by: record, at: now),
        request.requestor == requestor, request.device.utf8.elementsEqual(Hex.encode(device.hash.bytes).utf8),
        request.provider.text.utf8.elementsEqual(named.utf8), let id = AuthenticationID(Random.uuid())
      else { throw core.refused(.assertion, device, requestor) }
      // The rate limit of the box is used only after the assertion was verified, so that other clients cannot use it
      // up.
      try core.limits.takeExchange(by: box, at: requestor)
      do throws(StoreError) {
        let signIn = try await core.signInTransitions.exchange(
          PlatformExchange(
            request: request.id, requestMade: request.issued, requestEnds: request.expires, box: box, key: record.key,
            provider: request.provider, app: assertion.app, requestor: requestor, device: device.id,
            deviceHash: device.hash, profile: profile, about: about, rowKey: rowKey, authentication: id),
          at: now)
        guard wantsSignIn else { return .noContent }
        // The app would request its sign-in next, so sending it now saves a request when the app starts.
        var reply = core.reply(signIn.record, format)
        reply.response.addHeader(.preferenceApplied, "return=representation")
        return reply
      } catch {
        guard case .exchange(let refusal) = error else { throw error }
        throw core.refused(refusal, device, requestor)
      }
    }
  }
}

extension ServiceCore {
  /// Throws when the app's integration does not allow sign-ins by the box's account, according to the records in
  /// memory.
  ///
  /// The app thus learns the reason at once. The exchange in the store checks again.
  fileprivate func mayExchange(_ provider: ProviderID, for requestor: RequestorID) throws(CallError) {
    if let refusal = exchangeRefusal(provider, for: requestor) { throw .exchange(refusal) }
  }

  /// The setting that excludes a requestor's apps from the box's account; nil if none does.
  func exchangeRefusal(_ provider: ProviderID, for requestor: RequestorID) -> ExchangeRefusal? {
    guard let choice = provisioning.now.choice(provider, of: requestor) else { return .integration }
    guard choice.integration.singleSignOn else { return .singleSignOn }
    guard choice.provider.boarding == .supported else { return .boarding }
    return choice.integration.degradation == nil ? nil : .degraded
  }

  fileprivate func refused(_ refusal: ExchangeRefusal, _ device: CallDevice, _ requestor: RequestorID) -> CallError {
    audit.note(
      .device(requestor), "platform.refuse", device.hash.shortName, .refused, detail: refusal.rawValue, once: true)
    return CallError.exchange(refusal)
  }
}
