package import RegentPairing
package import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairingWire

/// Signs devices in without a code: with a temporary pass, or while a provider is in degradation (it is out of order,
/// and an operator has switched on `authn-all`).
extension ServiceCore {
  /// The provider that the request is about, if it currently signs every viewer in (degradation).
  ///
  /// The service must know at which provider to sign the viewer in. The request names it (`mvpd`), or the device named
  /// it when it asked for the code that is pending.
  package func openProvider(_ call: V1Call, _ device: DeviceHash) throws(CallError)
    -> ProvisioningSnapshot.Choice?
  {
    // This table is checked first, before the parameter is parsed: each poll gets here, and the table is nearly always
    // empty.
    guard provisioning.now.openProviders[call.requestor.id] != nil else { return nil }
    return openProvider(named: try call.namedProvider(), device, by: call.owner, at: call.requestor.id)
  }

  /// The provider that currently signs every viewer in (degradation), for a poll whose request was freed.
  package func openProvider(
    named: ProviderID?, _ device: DeviceHash, by owner: SignInOwner, at requestor: RequestorID
  ) -> ProvisioningSnapshot.Choice? {
    guard let open = provisioning.now.openProviders[requestor] else { return nil }
    let named = named ?? pendingChoice(of: device, by: owner, at: requestor)
    return open.first { $0.provider.id == named }
  }

  private func pendingChoice(
    of device: DeviceHash, by owner: SignInOwner, at requestor: RequestorID
  ) -> ProviderID? {
    guard let record = codes.latest(of: device, at: requestor, by: owner)?.record,
      case .pending = DeviceAnswer(record.flow, at: clock.now)
    else { return nil }
    return record.preselected
  }

  /// Signs a device in as a guest of a provider.
  ///
  /// It ends the device's earlier sign-in at this requestor. All sign-ins without an account use this function, except
  /// those on the phone's pages.
  ///
  /// - Throws: 429 when too many guests were signed in from that address.
  package func signIn(
    _ newcomer: Newcomer, at choice: ProvisioningSnapshot.Choice, _ source: AuthenticationSource,
    identity: IdentityHash? = nil
  ) async throws -> ValidSignIn {
    let (requestor, device) = (newcomer.requestor, newcomer.device)
    guard let rowKey = provisioning.now.rowKey(of: requestor),
      let id = AuthenticationID(Random.uuid())
    else {
      log.error("no-row-key", ("requestor", requestor.text))
      throw CallError(.internalServerError, code: .internalError)
    }
    try limits.take(.guest, from: newcomer.address, at: requestor)
    try limits.takeGuest(at: requestor)
    let now = clock.now
    let lifetime = choice.integration.settings(for: newcomer.profile).authenticationLifetime
    return try await signInTransitions.signIn(
      AuthenticationRecord(
        authentication: Authentication(
          id: id, requestor: requestor,
          viewer: Viewer(provider: choice.provider.id, account: nil), household: nil,
          profile: newcomer.profile, source: source, issued: now, expires: now + lifetime),
        device: device.id, deviceHash: device.hash, identity: identity, rowKey: rowKey,
        about: newcomer.about),
      at: now)
  }
}

/// A device that is to be signed in without a code, with what the sign-in needs.
package struct Newcomer: Sendable {
  let requestor: RequestorID
  let device: CallDevice
  let profile: ProfileName?
  let address: IPAddress?
  let about: DeviceDescription
}

extension V1Call {
  package func newcomer(_ device: CallDevice) throws(CallError) -> Newcomer {
    Newcomer(
      requestor: requestor.id, device: device, profile: try profile(), address: request.clientAddress,
      about: try deviceDescription())
  }

  package func namedProvider() throws(CallError) -> ProviderID? {
    try parameters.value(Field.provider).flatMap { ProviderID($0) }
  }
}
