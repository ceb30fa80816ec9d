package import RegentPairing
package import PairingStore
package import RegentHTTPCodec
internal import RegentPairingWire

extension SignedInDevice {
  /// Whether the viewer may watch, as of now.
  ///
  /// A guest's pass opens everything as long as it has time and titles; those are counted when it opens.
  @discardableResult
  package func decide(_ resource: RequestedResource) throws(AuthorizationDenial)
    -> AuthorizationSource
  {
    guard pass == nil else {
      guard integration.degradation != .authorizeNobody else { throw .degradation }
      return .temporaryPass
    }
    let rules =
      account?.rules(entitlements: entitlements, degradation: integration.degradation)
      ?? AuthorizationRules(
        degradation: integration.degradation, account: nil, entitlements: entitlements)
    return try rules.decide(resource)
  }
}

extension ServiceCore {
  /// The permit that a device holds; nobody is asked whether it would be given again.
  package func permit(_ resource: ResourceID, of device: SignedInDevice)
    async throws(StoreError) -> PermitLookup
  {
    try await store.permit(device.authentication.id, resource, at: clock.now)
  }

  /// A new permit, or the one that is there when it is as good.
  ///
  /// - Throws: 429 when the account, its household, the address or the requestor opened too many new titles.
  package func permitting(_ resource: ResourceID, to device: SignedInDevice, from address: IPAddress?)
    async throws(CallError) -> Permit
  {
    let now = clock.now
    let found = try await watching { () throws(StoreError) in try await permit(resource, of: device) }
    switch found {
    // A pass ends at one time whatever is watched: what is open needs no second write.
    case .inForce(let permit) where device.pass != nil || !Permit.isWorthWriting(over: permit, at: now): return permit
    // Renewed in its own row, which takes no more of the disk.
    case .inForce, .expired: break
    case .none: try limits.takePermit(of: device.authentication, from: address)
    }
    return try await watching { () throws(StoreError) in
      guard device.pass == nil else {
        return try await store.openTemporarily(device.authentication.id, resource, at: now)
      }
      return try await store.record(
        Permit(
          resource, for: device.authentication, lifetime: device.settings.authorizationLifetime,
          at: now), at: now)
    }
  }

  private func watching<Value>(_ body: () async throws(StoreError) -> Value) async throws(CallError) -> Value {
    do throws(StoreError) {
      return try await body()
    } catch {
      storeTrouble.note(error)
      throw CallError(error, while: .toWatch)
    }
  }
}

extension V1Call {
  /// What is to be watched, read.
  package func requestedResource() throws(CallError) -> RequestedResource {
    let id = try resource()
    do throws(MediaRSSError) {
      return try RequestedResource(reading: id)
    } catch {
      throw CallError(malformed: error)
    }
  }
}

extension CallError {
  /// A resource that cannot be read.
  package init(malformed error: MediaRSSError) {
    self.init(.badRequest, details: error.description, code: .malformedAuthorizationRequest)
  }

  /// A no to one resource; the provider's own words are for the viewer.
  package init(_ denial: AuthorizationDenial) {
    let (code, details): (EnhancedCode, String?) =
      switch denial {
      case .provider(let message): (.authorizationDeniedByProvider, message)
      case .parentalControls:
        (.authorizationDeniedByParentalControls, "rated above what this account may see")
      case .degradation:
        (.authorizationDeniedByDegradationRule, "nothing can be watched at the moment")
      }
    self.init(.forbidden, ErrorMessage.notAuthorized, details: details, code: code)
  }

  /// A pass that opens no (further) resource, as `authorize` says it.
  package init(watching refusal: TemporaryPassRefusal) {
    self.init(refusal)
    status = .forbidden
    message = ErrorMessage.notAuthorized
  }

  /// What it means to whoever wanted to watch that the store refused: the sign-in has ended since it was looked at.
  package init(_ error: StoreError, while need: SignInNeed) {
    switch error {
    case .notInForce(let refusal): self = need.refused(refusal)
    case .notFound: self = need.missing
    case .pass(let refusal): self.init(watching: refusal)
    default: self.init(error)
    }
  }
}
