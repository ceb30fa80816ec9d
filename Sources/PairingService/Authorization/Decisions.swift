package import RegentPairing
package import PairingStore
package import RegentHTTPCodec
internal import RegentPairingWire

extension SignedInDevice {
  /// Decides whether the viewer may watch a resource now.
  ///
  /// A temporary pass allows every resource while it has time and titles left. Titles are counted in
  /// ``ServiceCore/permitting(_:to:from:)``.
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
  /// The permit (stored permission) that a device holds for a resource, without deciding again whether it would get
  /// one.
  package func permit(_ resource: ResourceID, of device: SignedInDevice)
    async throws(StoreError) -> PermitLookup
  {
    try await store.permit(device.authentication.id, resource, at: clock.now)
  }

  /// Returns a permit (the stored permission to watch a resource) for a device that may watch the resource.
  ///
  /// The existing permit is returned if a new one would hardly last longer.
  ///
  /// - Throws: 429 when the account, its household, the address or the requestor opened too many new titles.
  package func permitting(_ resource: ResourceID, to device: SignedInDevice, from address: IPAddress?)
    async throws(CallError) -> Permit
  {
    let now = clock.now
    let found = try await watching { () throws(StoreError) in try await permit(resource, of: device) }
    switch found {
    // A permit of a temporary pass ends with the pass, so the existing permit is never renewed. Other permits are
    // renewed only if the new one lasts noticeably longer.
    case .inForce(let permit) where device.pass != nil || !Permit.isWorthWriting(over: permit, at: now): return permit
    // A renewed permit replaces the row of the earlier one, so it is not counted against the limits for new rows.
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
  /// Parses the resource that the viewer wants to watch.
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
  /// The error for a resource that cannot be parsed.
  package init(malformed error: MediaRSSError) {
    self.init(.badRequest, details: error.description, code: .malformedAuthorizationRequest)
  }

  /// The error for a denied resource.
  ///
  /// The provider's message is for the viewer.
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

  /// The error of `authorize` when a temporary pass is used up.
  package init(watching refusal: TemporaryPassRefusal) {
    self.init(refusal)
    status = .forbidden
    message = ErrorMessage.notAuthorized
  }

  /// The error when the store refuses to store a permit, for example because the sign-in has ended since it was read.
  package init(_ error: StoreError, while need: SignInNeed) {
    switch error {
    case .notInForce(let refusal): self = need.refused(refusal)
    case .notFound: self = need.missing
    case .pass(let refusal): self.init(watching: refusal)
    default: self.init(error)
    }
  }
}
