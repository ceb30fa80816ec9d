package import RegentPairing
package import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairingWire

/// Signing a device in without a code: with a temporary pass, or while its provider is out of order (`authn-all`).
extension ServiceCore {
  /// The out-of-order provider that lets everybody in, when a call is about one.
  ///
  /// "Everybody is authenticated" still needs to know at which provider: the call names it (`mvpd`), or the device did
  /// when it asked for the code that it waits for.
  package func openProvider(_ call: V1Call, _ device: DeviceHash) throws(CallError)
    -> ProvisioningSnapshot.Choice?
  {
    let provisioned = provisioning.now
    // Nearly always empty, and asked with every poll.
    guard let open = provisioned.openProviders[call.requestor.id] else { return nil }
    var named = try call.parameters.value(Field.provider).flatMap { ProviderID($0) }
    if named == nil { named = pendingChoice(of: device, at: call.requestor.id) }
    return open.first { $0.provider.id == named }
  }

  private func pendingChoice(of device: DeviceHash, at requestor: RequestorID) -> ProviderID? {
    guard let record = codes.latest(of: device, at: requestor)?.record,
      case .pending = DeviceAnswer(record.flow, at: clock.now)
    else { return nil }
    return record.preselected
  }

  /// Signs a device in as a guest of a provider.
  ///
  /// What it was signed in with before at this requestor ends with it. All ways in without an account end here, but
  /// that over the phone's pages.
  ///
  /// - Throws: 429 when too many came in from there.
  package func signIn(
    _ call: V1Call, _ device: CallDevice, at choice: ProvisioningSnapshot.Choice,
    _ source: AuthenticationSource, identity: IdentityHash? = nil
  ) async throws -> StandingSignIn {
    let requestor = call.requestor.id
    guard let rowKey = provisioning.now.rowKey(of: requestor),
      let id = AuthenticationID(Random.uuid())
    else {
      log.error("no-row-key", ("requestor", requestor.text))
      throw CallError(.internalServerError, code: .internalError)
    }
    try limits.take(.guest, from: call.request.clientAddress, at: requestor)
    let now = clock.now
    let profile = try call.profile()
    let lifetime = choice.integration.settings(for: profile).authenticationLifetime
    return try await signInTransitions.signIn(
      AuthenticationRecord(
        authentication: Authentication(
          id: id, requestor: requestor,
          viewer: Viewer(provider: choice.provider.id, account: nil), household: nil,
          profile: profile, source: source, issued: now, expires: now + lifetime),
        device: device.id, deviceHash: device.hash, identity: identity, rowKey: rowKey,
        about: try call.deviceDescription()),
      at: now)
  }
}
