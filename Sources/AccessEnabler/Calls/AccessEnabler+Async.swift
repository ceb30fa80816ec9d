extension AccessEnabler {
  /// Sets the requestor and fetches the list of providers; the `async` form of ``setRequestor(_:serviceProviders:)``.
  ///
  /// - Parameters:
  ///   - requestor: the requestor's id.
  ///   - services: the URLs of the services; nil means those of the ``EnablerConfiguration``.
  /// - Returns: the providers, in the order to show.
  /// - Throws: ``EntitlementError`` if no service answered. Stored sign-ins can be used even then.
  @discardableResult
  public func configure(
    requestor: String, services: [String]? = nil
  ) async throws(EntitlementError) -> [MVPD] {
    let outcome = try await runtime.outcome(of: .setRequestor(requestor, services: services))
    if case .configured(let providers) = outcome { return providers }
    throw EntitlementError(.outOfOrder)
  }

  /// The stored sign-in if it is still valid; sends no request.
  public func currentSignIn() async -> SignIn? { try? await requireSignIn() }

  /// The stored sign-in if it is still valid; sends no request.
  ///
  /// - Throws: ``EntitlementError`` that says why there is none: `.notAuthenticated`, `.accountDisabled` or
  ///   `.notConfigured`.
  public func requireSignIn() async throws(EntitlementError) -> SignIn {
    if case .signIn(let signIn) = try await runtime.outcome(of: .asked(.checkAuthentication)) { return signIn }
    throw EntitlementError(.outOfOrder)
  }

  /// Signs this device in.
  ///
  /// Cancelling the task cancels the sign-in, and no further progress is reported.
  ///
  /// - Parameters:
  ///   - choice: the provider. If nil, `displayProviderDialog` asks the app for a picker, and the call waits for
  ///     `setSelectedProvider`.
  ///   - isForced: whether to sign in again although this device is signed in.
  ///   - data: further data that the provider needs.
  ///   - filter: the providers in the picker for the box's shared account.
  ///   - progress: called in the caller's isolation with the events of this call: the registration code, the phone that
  ///     opened it, a URL to load.
  /// - Returns: the sign-in, new or stored.
  /// - Throws: ``EntitlementError``, for example `.denied` or `.codeExpired`.
  @discardableResult
  nonisolated(nonsending) public func authenticate(
    _ choice: ProviderChoice? = nil, isForced: Bool = false, data: [String: String] = [:],
    filter: ProviderFilter? = nil, progress: (EntitlementEvent) -> Void = { _ in }
  ) async throws(EntitlementError) -> SignIn {
    var steps = signIn(choice, isForced: isForced, data: data, filter: filter).makeAsyncIterator()
    while let step = try await steps.next(isolation: #isolation) {
      switch step {
      case .progress(let event): progress(event)
      case .signedIn(let signIn): return signIn
      }
    }
    throw EntitlementError(.cancelled)
  }

  /// Signs this device in and returns the progress as a sequence that ends with the sign-in.
  ///
  /// The sign-in begins at once. Leaving the loop cancels it.
  ///
  /// ```swift
  /// for try await step in enabler.signIn(.onSecondScreen) {
  ///   switch step {
  ///   case .progress(.registrationCode(let offer)): show(offer.display, offer.url)
  ///   case .signedIn(let signIn): welcome(signIn)
  ///   default: break
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - choice: the provider. If nil, `displayProviderDialog` asks the app for a picker, and the call waits for
  ///     `setSelectedProvider`.
  ///   - isForced: whether to sign in again although this device is signed in.
  ///   - data: further data that the provider needs.
  ///   - filter: the providers in the picker for the box's shared account.
  /// - Returns: the steps of this call only. They end with `.signedIn` or throw an ``EntitlementError``.
  public func signIn(
    _ choice: ProviderChoice? = nil, isForced: Bool = false, data: [String: String] = [:],
    filter: ProviderFilter? = nil
  ) -> SignInSteps {
    let details = AuthenticationRequest(isForced: isForced, data: data, filter: filter, choice: choice)
    return SignInSteps(runtime.steps(of: details))
  }

  /// Authorizes a resource and returns a short-lived media token for it.
  ///
  /// - Parameters:
  ///   - resource: the resource's id.
  ///   - data: further data that the provider needs.
  ///   - signsIn: whether to sign in first if this device is not signed in, as `getAuthorization` does.
  /// - Returns: the media token with its resource and provider.
  /// - Throws: ``EntitlementError``. Its `area` says whether to sign in, to tell the viewer no, or to try later.
  public func authorize(
    _ resource: String, data: [String: String] = [:], signsIn: Bool = false
  ) async throws(EntitlementError) -> MediaAccess {
    let call: AppCall =
      signsIn
      ? .getAuthorization(resource, data: data) : .checkAuthorization(resource, data: data)
    if case .access(let access) = try await runtime.outcome(of: .asked(call)) { return access }
    throw EntitlementError(.outOfOrder)
  }

  /// Returns those of the resources that the viewer may watch, for decorating lists.
  ///
  /// To play one, call `authorize`.
  ///
  /// - Parameters:
  ///   - resources: the resources' ids.
  ///   - usesCache: whether a cached answer for the same resources may be returned.
  /// - Returns: the allowed resources, in the order given.
  /// - Throws: ``EntitlementError``, for example `.notAuthenticated` or `.tooManyResources`.
  public func preauthorize(
    _ resources: [String], usesCache: Bool = true
  ) async throws(EntitlementError) -> [String] {
    let call = AppCall.preauthorize(resources, usesCache: usesCache)
    if case .resources(let allowed) = try await runtime.outcome(of: .asked(call)) { return allowed }
    throw EntitlementError(.outOfOrder)
  }

  /// Returns a piece of metadata, whose value is nil if it is not known.
  public func metadata(_ key: MetadataRequest) async throws(EntitlementError) -> Metadata {
    let call = AppCall.getMetadata(key, arguments: key.arguments)
    if case .metadata(let found) = try await runtime.outcome(of: .asked(call)) { return found }
    throw EntitlementError(.outOfOrder)
  }

  /// The provider that the viewer selected or signed in with; nil if there is none.
  public func selectedProvider() async -> MVPD? {
    guard case .selected(let provider) = try? await runtime.outcome(of: .asked(.getSelectedProvider))
    else { return nil }
    return provider
  }

  /// Signs this device out, first in the local store, then at the service.
  ///
  /// - Throws: ``EntitlementError`` if the service could not be told. This device is signed out even then.
  public func signOut() async throws(EntitlementError) {
    _ = try await runtime.outcome(of: .asked(.logout))
  }
}
