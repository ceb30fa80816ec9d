package import RegentPairing
package import PairingStore

/// A device whose sign-in stands at this moment, with all that decides what it may watch.
package struct SignedInDevice: Sendable {
  /// Its sign-in.
  package let record: AuthenticationRecord
  /// The viewer's account; none for guests.
  package let account: Account?
  /// How its provider works with the requestor.
  package let integration: Integration
  package let provider: Provider
  /// The provider's rules about this viewer.
  package let entitlements: [Entitlement]
  /// The profile that the call asks for, else the one that the sign-in was made with.
  package let profile: ProfileName?

  /// The sign-in itself.
  package var authentication: Authentication { record.authentication }

  /// Lifetimes and limits for this app.
  package var settings: IntegrationSettings { integration.settings(for: profile) }

  /// The rules of its temporary pass, when it came in with one.
  package var pass: TemporaryPassRules? {
    authentication.source == .temporary ? provider.temporaryPass : nil
  }
}

extension ServiceCore {
  /// What a guest has used of the temporary pass, by device and identity together.
  package func passUse(of viewer: SignedInDevice) async throws(StoreError) -> TemporaryPassUse {
    try await store.temporaryPass(
      requestor: viewer.authentication.requestor, provider: viewer.provider.id,
      device: viewer.record.deviceHash, identity: viewer.record.identity)
  }
}

extension ServiceCore {
  /// A device's sign-in as of now: the one place where a route learns whether it may act for a viewer.
  ///
  /// Account, integration and keys are looked at each time: what an operator switches off between two steps ends there.
  package func signedIn(_ call: V1Call, _ device: CallDevice, for need: SignInNeed) async throws
    -> SignedInDevice
  {
    let requestor = call.requestor.id
    let profile = try call.profile()
    do throws(StoreError) {
      if let record = try await codeTransitions.pickUp(device.hash, at: requestor) {
        return try await standing(record, profile)
      }
    } catch {
      guard case .notInForce(let refusal) = error else { throw error }
      try await refuse(refusal, call, device, need)
    }
    guard let open = try openProvider(call, device.hash) else { throw need.missing }
    do {
      return try await standing(try await signIn(call, device, at: open, .degraded), profile)
    } catch let error as StoreError {
      log.storeFailed(error)
      throw CallError(error, while: need)
    }
  }

  /// The sign-in that a code led to, if the device still has it; looking at it is no delivery.
  package func signedIn(by approval: Approval, _ code: RegistrationRecord)
    async throws(StoreError) -> SignedInDevice?
  {
    let filter = AuthenticationFilter(
      requestor: code.requestor, device: code.deviceHash, viewer: approval.viewer)
    let found = try await store.authentications(filter, after: nil, limit: 10, at: clock.now)
    guard let record = found.first(where: { $0.authentication.id == approval.authentication })
    else { return nil }
    return try await standing(record, nil)
  }

  private func standing(_ record: AuthenticationRecord, _ profile: ProfileName?)
    async throws(StoreError) -> SignedInDevice
  {
    let (requestor, viewer) = (record.authentication.requestor, record.authentication.viewer)
    let provisioned = provisioning.now
    let records = provisioned.records
    var account: Account?
    if let name = viewer.account { account = try await store.account(viewer.provider, name) }
    let context = SignInContext(
      integration: records.integrations[requestor]?[viewer.provider],
      provider: records.providers[viewer.provider], account: account,
      rowKey: records.keyPairs[record.rowKey])
    try context.check(viewer, requestor: requestor, source: record.authentication.source)
    guard let integration = context.integration, let provider = context.provider else {
      throw .notInForce(.notIntegrated)
    }
    return SignedInDevice(
      record: record, account: account, integration: integration, provider: provider,
      entitlements: provisioned.rules(of: viewer.provider).about(account),
      profile: profile ?? record.authentication.profile)
  }

  /// Throws, unless the sign-in has merely expired and its place may be taken by another one.
  private func refuse(
    _ refusal: AuthenticationRefusal, _ call: V1Call, _ device: CallDevice, _ need: SignInNeed
  ) async throws {
    guard refusal == .expired else {
      audit.note(
        .device(call.requestor.id), "device.refuse", device.hash.shortName, .refused,
        detail: refusal.description, once: true)
      throw need.refused(refusal)
    }
    if try openProvider(call, device.hash) != nil { return }
    let filter = AuthenticationFilter(requestor: call.requestor.id, device: device.hash)
    // Asked as of long ago, the list has those that have run out since.
    let past = try await store.authentications(filter, after: nil, limit: 1, at: .beginning)
    throw past.first?.authentication.source == .temporary ? need.passEnded : need.refused(.expired)
  }
}

extension Instant {
  /// Before anything was ever issued.
  package static let beginning = Instant(milliseconds: 0)
}
