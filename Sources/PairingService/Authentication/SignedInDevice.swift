package import RegentPairing
package import PairingStore

/// A device whose sign-in stands at this moment, with all that decides what it may watch.
package struct SignedInDevice: Sendable {
  /// Its sign-in, with account, integration and provider as the store looked at them.
  package let signIn: StandingSignIn
  /// The provider's rules about this viewer.
  package let entitlements: [Entitlement]
  /// The profile that the call asks for, else the one that the sign-in was made with.
  package let profile: ProfileName?

  package var record: AuthenticationRecord { signIn.record }
  package var authentication: Authentication { signIn.authentication }
  /// The viewer's account; none for guests.
  package var account: Account? { signIn.account }
  package var integration: Integration { signIn.integration }
  package var provider: Provider { signIn.provider }

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
  /// A device's sign-in as of now, or the answer that says why there is none.
  ///
  /// Account, integration and keys are looked at each time: what an operator switches off between two steps ends there.
  package func signedIn(_ call: V1Call, _ device: CallDevice, for need: SignInNeed) async throws
    -> SignedInDevice
  {
    let profile = try call.profile()
    let pickUp = try await pickUp(call, device, for: need)
    if let signIn = pickUp.signIn { return viewer(of: signIn, profile) }
    if case .ofAnother = pickUp { throw need.missing }
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

  /// The sign-in that a code led to, if the device still has it; looking at it is no delivery.
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

  private func viewer(of signIn: StandingSignIn, _ profile: ProfileName?) -> SignedInDevice {
    let rules = provisioning.now.rules(of: signIn.provider.id)
    return SignedInDevice(
      signIn: signIn, entitlements: rules.about(signIn.account),
      profile: profile ?? signIn.authentication.profile)
  }
}
