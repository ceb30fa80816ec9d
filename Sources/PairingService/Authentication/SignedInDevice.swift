package import RegentPairing
package import PairingStore

/// A device whose sign-in is valid at this moment, with all data that decides what it may watch.
package struct SignedInDevice: Sendable {
  /// The device's sign-in, with account, integration and provider as one transaction read them.
  package let signIn: ValidSignIn
  /// The entitlement rules of the provider that apply to this viewer.
  package let entitlements: [Entitlement]
  /// The profile (a set of lifetimes and limits of the integration) that the request asks for, else that of the
  /// sign-in.
  package let profile: ProfileName?

  package var record: AuthenticationRecord { signIn.record }
  package var authentication: Authentication { signIn.authentication }
  /// The viewer's account; nil for guests.
  package var account: Account? { signIn.account }
  package var integration: Integration { signIn.integration }
  package var provider: Provider { signIn.provider }

  /// The lifetimes and limits of the integration for this profile.
  package var settings: IntegrationSettings { integration.settings(for: profile) }

  /// The rules of the temporary pass, if the device is signed in with one; nil for other sign-ins.
  package var pass: TemporaryPassRules? {
    authentication.source == .temporary ? provider.temporaryPass : nil
  }
}

extension ServiceCore {
  /// What the device and the identity together have used of the temporary pass.
  package func passUse(of viewer: SignedInDevice) async throws(StoreError) -> TemporaryPassUse {
    try await store.temporaryPass(
      requestor: viewer.authentication.requestor, provider: viewer.provider.id,
      device: viewer.record.deviceHash, identity: viewer.record.identity)
  }
}

extension ServiceCore {
  /// Returns a device's valid sign-in, or throws why it has none.
  ///
  /// Account, integration and keys are checked each time, so that a device is refused at its next request after an
  /// operator has disabled one of them.
  package func signedIn(_ call: V1Call, _ device: CallDevice, for need: SignInNeed) async throws
    -> SignedInDevice
  {
    let profile = try call.profile()
    let pickUp = try await pickUp(call, device, for: need)
    if let signIn = pickUp.signIn {
      await noteVisitor(call, signIn.record)
      return viewer(of: signIn, profile)
    }
    guard let open = try openProvider(call, device.hash) else {
      guard case .expired(let past) = pickUp else { throw need.missing }
      throw past.authentication.source == .temporary ? need.passEnded : need.refused(.expired)
    }
    do {
      return viewer(of: try await signIn(try call.newcomer(device), at: open, .degraded), profile)
    } catch let error as StoreError {
      storeTrouble.note(error)
      throw CallError(error, while: need)
    }
  }

  /// Returns the sign-in that a code led to, if it is still valid.
  ///
  /// Reading it here does not mark the code as delivered.
  package func signedIn(by approval: Approval, _ code: RegistrationRecord)
    async throws(StoreError) -> SignedInDevice?
  {
    let found = try await store.standing(approval.authentication, at: clock.now)
    guard let found, found.record.registration == code.id else { return nil }
    return viewer(of: found, nil)
  }

  private func pickUp(_ call: V1Call, _ device: CallDevice, for need: SignInNeed) async throws
    -> PickUp
  {
    do throws(StoreError) {
      return try await signInTransitions.pickUp(device.hash, at: call.requestor.id, of: call.owner)
    } catch {
      guard case .notInForce(let refusal) = error else { throw error }
      audit.note(
        .device(call.requestor.id), "device.refuse", device.hash.shortName, .refused,
        detail: refusal.description, once: true)
      throw need.refused(refusal)
    }
  }

  /// Stores the visitor id of a call with the device's sign-in if it is another than before.
  ///
  /// The id is not stored above a rate limit and while the store cannot write, because no decision depends on it.
  private func noteVisitor(_ call: V1Call, _ record: AuthenticationRecord) async {
    guard let visitor = try? call.visitorID(), record.about.visitorID != visitor else { return }
    let requestor = record.authentication.requestor
    guard (try? limits.takeDecision(of: record.deviceHash, at: requestor)) != nil,
      let changed = record.reporting(visitorID: visitor),
      (try? await store.setVisitorID(visitor, of: record.authentication.id, at: clock.now)) == true
    else { return }
    audit.note(
      .device(requestor), "device.visitor", record.deviceHash.shortName,
      detail: "\(requestor)\(changed.report), \(record.deviceTitle)")
  }

  private func viewer(of signIn: ValidSignIn, _ profile: ProfileName?) -> SignedInDevice {
    let rules = provisioning.now.rules(of: signIn.provider.id)
    return SignedInDevice(
      signIn: signIn, entitlements: rules.about(signIn.account),
      profile: profile ?? signIn.authentication.profile)
  }
}
