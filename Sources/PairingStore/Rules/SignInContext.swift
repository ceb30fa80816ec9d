public import RegentPairing

/// The records that a store reads inside its transaction to decide whether a sign-in may be made or used.
public struct SignInContext: Sendable {
  public var integration: Integration?
  public var provider: Provider?
  /// The viewer's account; nil for guests, and when the account was removed.
  public var account: Account?
  /// The requestor's key pair that signs the sign-in's row.
  public var rowKey: KeyPair?
  /// What the device and the identity together have used of the temporary pass.
  public var use: TemporaryPassUse
  /// For an app's sign-in that depends on a box's sign-in: whether the box's sign-in is valid and the viewer lets the
  /// app use it.
  public var parentStands: Bool

  public init(
    integration: Integration?, provider: Provider?, account: Account?, rowKey: KeyPair?,
    use: TemporaryPassUse = TemporaryPassUse(), parentStands: Bool = true
  ) {
    self.integration = integration
    self.provider = provider
    self.account = account
    self.rowKey = rowKey
    self.use = use
    self.parentStands = parentStands
  }
}

extension SignInContext {
  /// Returns the sign-in together with the records that make it valid.
  ///
  /// - Throws: `notInForce` when one of these records makes it invalid. The expiry is not checked.
  public func standing(_ record: AuthenticationRecord) throws(StoreError) -> ValidSignIn {
    let authentication = record.authentication
    try check(
      authentication.viewer, requestor: authentication.requestor, source: authentication.source)
    guard let integration, let provider else { throw .notInForce(.notIntegrated) }
    return ValidSignIn(
      record: record, account: account, integration: integration, provider: provider)
  }

  /// Checks whether a sign-in of this viewer may be made or used.
  ///
  /// All stores use this function, so that all decide alike.
  func check(_ viewer: Viewer, requestor: RequestorID, source: AuthenticationSource)
    throws(StoreError)
  {
    do throws(AuthenticationRefusal) {
      try standing(of: viewer, requestor: requestor, source: source).check()
    } catch {
      throw .notInForce(error)
    }
  }

  private func standing(of viewer: Viewer, requestor: RequestorID, source: AuthenticationSource)
    -> AuthenticationValidity
  {
    let keyHonoured = rowKey.map {
      $0.requestor == requestor && $0.purpose == .rows && $0.state != .revoked
    }
    return AuthenticationValidity(
      account: accountStanding(of: viewer, source: source),
      integrated: integration != nil && provider?.id == viewer.provider
        && (source != .platform || integration?.singleSignOn == true),
      switchedOff: integration?.enabled == false, keyHonoured: keyHonoured ?? false, parentStands: parentStands)
  }

  private func accountStanding(of viewer: Viewer, source: AuthenticationSource) -> AccountStanding {
    guard viewer.account != nil else {
      // A sign-in without an account comes from a temporary pass, or from a provider whose sign-in an operator has
      // switched off because it is out of order (degradation). The sign-in ends when the provider offers no temporary
      // pass any more, or when the degradation ends.
      switch source {
      case .temporary: return provider?.temporaryPass == nil ? .gone : .good
      case .degraded: return integration?.degradation == .authenticateEverybody ? .good : .gone
      case .regular, .platform: return .gone
      }
    }
    guard let account, provider?.hasAccounts == true else { return .gone }
    return account.isDisabled ? .disabled : .good
  }
}

extension RegistrationRecord {
  /// Makes the authentication that results from approving this registration.
  ///
  /// For a guest it ends with the temporary pass, for other viewers after the integration's authentication lifetime.
  public func authentication(
    for approval: Approval, in context: SignInContext, at now: Instant
  ) throws(StoreError) -> AuthenticationRecord {
    let isGuest = approval.viewer.account == nil
    let source = isGuest ? AuthenticationSource.temporary : .regular
    try context.check(approval.viewer, requestor: requestor, source: source)
    let record = AuthenticationRecord(
      authentication: Authentication(
        id: approval.authentication, requestor: requestor, viewer: approval.viewer,
        household: context.account?.household, profile: profile, source: source, issued: now,
        expires: now
          + (context.integration?.settings(for: profile).authenticationLifetime ?? .zero)),
      device: device, deviceHash: deviceHash, registration: id, rowKey: rowKey, about: about)
    return try record.bounded(by: context, at: now)
  }
}

extension AuthenticationRecord {
  /// Applies the limits of the temporary pass, if the sign-in uses one: sets its expiry to the end of the pass, and
  /// throws `pass` when the pass has no time left.
  ///
  /// Other sign-ins are returned unchanged.
  public func bounded(by context: SignInContext, at now: Instant) throws(StoreError)
    -> AuthenticationRecord
  {
    guard authentication.source == .temporary, let rules = context.provider?.temporaryPass else {
      return self
    }
    do throws(TemporaryPassRefusal) {
      try rules.admit(context.use, identified: identity != nil, at: now)
    } catch {
      throw .pass(error)
    }
    return ending(at: rules.expires(context.use, at: now))
  }

  /// A copy of the authentication with another expiry.
  public func ending(at expires: Instant) -> AuthenticationRecord {
    var record = self
    let was = authentication
    record.authentication = Authentication(
      id: was.id, requestor: was.requestor, viewer: was.viewer, household: was.household,
      profile: was.profile, source: was.source, issued: was.issued, expires: expires, parent: was.parent)
    return record
  }
}

extension SignInContext {
  /// Makes an app's sign-in from a box's assertion, or throws why the assertion is refused.
  ///
  /// The caller has checked that the box's own sign-in is valid.
  public func authentication(
    for exchange: PlatformExchange, parent: AuthenticationRecord, at now: Instant
  ) throws(StoreError) -> ValidSignIn {
    guard let integration, integration.enabled, let provider else { throw .exchange(.integration) }
    guard integration.singleSignOn else { throw .exchange(.singleSignOn) }
    guard provider.boarding == .supported else { throw .exchange(.boarding) }
    guard integration.degradation == nil else { throw .exchange(.degraded) }
    let ends = now + integration.settings(for: exchange.profile).authenticationLifetime
    return try standing(
      AuthenticationRecord(
        authentication: Authentication(
          id: exchange.authentication, requestor: exchange.requestor, viewer: parent.authentication.viewer,
          household: account?.household, profile: exchange.profile, source: .platform, issued: now,
          // The app's sign-in must not outlive the box's.
          expires: min(ends, parent.authentication.expires),
          parent: ParentSignIn(parent.authentication.id, app: exchange.app)),
        device: exchange.device, deviceHash: exchange.deviceHash, rowKey: exchange.rowKey, about: exchange.about))
  }
}

extension PlatformExchange {
  /// Whether the app's sign-in request may be answered with this sign-in of the box.
  ///
  /// That sign-in must be a regular one with an account, at the requested provider, and of another requestor than the
  /// app's.
  public func mayUse(_ parent: AuthenticationRecord) -> Bool {
    let authentication = parent.authentication
    return authentication.source == .regular && authentication.viewer.provider == provider
      && authentication.viewer.account != nil && authentication.requestor != requestor
  }
}
