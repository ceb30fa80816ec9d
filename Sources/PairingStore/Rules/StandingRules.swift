public import RegentPairing

/// What a store looked up, inside its transaction, for a sign-in that is made or used.
public struct SignInContext: Sendable {
  /// The integration of requestor and provider, if there is one.
  public var integration: Integration?
  /// The provider, if there is one.
  public var provider: Provider?
  /// The viewer's account, if there is one.
  public var account: Account?
  /// The key pair that signs the row, if there is one.
  public var rowKey: KeyPair?
  /// What has been used of the temporary pass, by device and identity together.
  public var use: TemporaryPassUse
  /// Whether the box's own sign-in stands and may be used by the app, for a sign-in that came from one.
  public var parentStands: Bool

  /// What was looked up.
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
  /// A sign-in as it stands on what was looked up.
  ///
  /// - Throws: `notInForce`, when it does not; its expiry is not looked at.
  public func standing(_ record: AuthenticationRecord) throws(StoreError) -> StandingSignIn {
    let authentication = record.authentication
    try check(
      authentication.viewer, requestor: authentication.requestor, source: authentication.source)
    guard let integration, let provider else { throw .notInForce(.notIntegrated) }
    return StandingSignIn(
      record: record, account: account, integration: integration, provider: provider)
  }

  /// Whether a sign-in of this viewer may be made or used; stores ask here, so that all give the same answer.
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
    -> Standing
  {
    let keyHonoured = rowKey.map {
      $0.requestor == requestor && $0.purpose == .rows && $0.state != .revoked
    }
    return Standing(
      account: accountStanding(of: viewer, source: source),
      integrated: integration != nil && provider?.id == viewer.provider
        && (source != .platform || integration?.singleSignOn == true),
      switchedOff: integration?.enabled == false, keyHonoured: keyHonoured ?? false, parentStands: parentStands)
  }

  private func accountStanding(of viewer: Viewer, source: AuthenticationSource) -> AccountStanding {
    guard viewer.account != nil else {
      // Without an account only a temporary pass or a degraded provider lets anybody in; when the provider has become
      // another kind, or is in order again, that sign-in ends.
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
  /// The authentication that an approval of this registration creates.
  ///
  /// A guest's lasts as long as the temporary pass, anybody else's as long as the integration says.
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
  /// The record as it may be kept: a temporary one begins only with a pass that has time left, and ends with it.
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

  /// The same record with another end.
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
  /// The sign-in that a box's word makes, or why it makes none; the box's own stands at this moment.
  public func authentication(
    for exchange: PlatformExchange, parent: AuthenticationRecord, at now: Instant
  ) throws(StoreError) -> StandingSignIn {
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
          // A child never outlives its parent.
          expires: min(ends, parent.authentication.expires),
          parent: ParentSignIn(parent.authentication.id, app: exchange.app)),
        device: exchange.device, deviceHash: exchange.deviceHash, rowKey: exchange.rowKey, about: exchange.about))
  }
}

extension PlatformExchange {
  /// Whether a sign-in may answer an app's request: the box's own, regular, and at the provider that was asked for.
  public func mayUse(_ parent: AuthenticationRecord) -> Bool {
    let authentication = parent.authentication
    return authentication.source == .regular && authentication.viewer.provider == provider
      && authentication.viewer.account != nil && authentication.requestor != requestor
  }
}
