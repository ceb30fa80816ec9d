package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// The endpoint that signs a device in with a temporary pass: at once, without an account, for a limited time.
///
/// It also signs a device in at a provider that is out of order and whose degradation admits every viewer.
package struct TemporaryPassRoutes: Sendable {
  private let core: ServiceCore
  private let endpoints: V1Endpoints

  package init(_ core: ServiceCore) {
    self.core = core
    endpoints = V1Endpoints(core)
  }

  package func mount(_ routes: inout Routes) {
    endpoints.mount(&routes, [.post], "/api/v1/authenticate/freepreview", begin)
  }

  private func begin(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    let choice = try call.temporaryChoice()
    try call.checkDomain()
    let identity = try call.identity(for: choice.provider).map { core.hasher.identity($0.text) }
    return .later { [core] in
      if try await isIn(device, at: choice, identity, call) { return .noContent }
      _ = try await core.signIn(
        try call.newcomer(device), at: choice, choice.provider.temporaryPass == nil ? .degraded : .temporary,
        identity: identity)
      return .noContent
    }
  }

  /// Whether the device already has this sign-in.
  ///
  /// A repeated request must not replace it, because that would end the permits given since.
  private func isIn(
    _ device: CallDevice, at choice: ProvisioningSnapshot.Choice, _ identity: IdentityHash?,
    _ call: V1Call
  ) async throws -> Bool {
    let pickUp: PickUp
    do throws(StoreError) {
      pickUp = try await core.signInTransitions.pickUp(device.hash, at: call.requestor.id, of: call.owner)
    } catch {
      guard case .notInForce = error else { throw error }
      return false
    }
    guard let record = pickUp.signIn?.record else { return false }
    return record.authentication.viewer == Viewer(provider: choice.provider.id, account: nil)
      && record.identity == identity
  }
}

extension V1Call {
  fileprivate func temporaryChoice() throws(CallError) -> ProvisioningSnapshot.Choice {
    let name = try parameters.required(Field.providerID)
    guard let id = ProviderID(name), let choice = provisioned.choice(id, of: requestor.id),
      choice.provider.temporaryPass != nil || choice.letsEverybodyIn
    else {
      throw CallError(
        .badRequest, details: "the provider gives this requestor no temporary pass",
        code: .unknownIntegration)
    }
    return choice
  }

  /// Checks the domain that the request names.
  ///
  /// If the requestor has no registered domains, no page can send such a request, and the check is skipped.
  fileprivate func checkDomain() throws(CallError) {
    guard !requestor.domains.isEmpty else { return }
    guard RedirectRule(requestor).knows(domain: try parameters.required(Field.domainName)) else {
      throw CallError(
        .badRequest, details: "\(Field.domainName) is not one of the requestor's domains")
    }
  }

  /// The identity in the request, for a promotional pass; nil for other passes, whose identity is ignored.
  fileprivate func identity(for provider: Provider) throws(CallError) -> PassIdentity? {
    guard provider.temporaryPass?.promotional == true else { return nil }
    let given: PassIdentity?
    if let data = try parameters.value(Field.genericData) {
      given = PassIdentity(data)
    } else if let header = header(PairingHeader.temporaryPassIdentity) {
      given = PassIdentity(header: header)
    } else {
      throw CallError(.pass(.identityMissing))
    }
    guard let given else {
      throw CallError(
        .badRequest,
        details: "\(Field.genericData) must be text of at most \(PassIdentity.longest) bytes")
    }
    return given
  }
}
