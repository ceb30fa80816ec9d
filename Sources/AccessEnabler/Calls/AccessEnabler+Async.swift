extension AccessEnabler {
  /// Establishes the programmer's identity and fetches the list of providers: `setRequestor` as a call that returns.
  ///
  /// - Parameters:
  ///   - requestor: the programmer's id.
  ///   - services: the services' addresses; none means those of the ``EnablerConfiguration``.
  /// - Returns: the providers, in the order to show.
  /// - Throws: ``EntitlementError`` when no service answered; what is kept locally can be used nevertheless.
  @discardableResult
  public func configure(
    requestor: String, services: [String]? = nil
  ) async throws(EntitlementError) -> [MVPD] {
    let outcome = try await runtime.outcome(of: .setRequestor(requestor, services: services))
    if case .configured(let providers) = outcome { return providers }
    throw EntitlementError(.outOfOrder)
  }

  /// The sign-in that is kept locally, if it is still valid; no network.
  public func currentSignIn() async -> SignIn? {
    guard case .signIn(let signIn) = try? await runtime.outcome(of: .asked(.checkAuthentication)) else {
      return nil
    }
    return signIn
  }

  /// Signs this device in.
  ///
  /// Cancelling the task cancels the sign-in; nothing more is heard of it.
  ///
  /// - Parameters:
  ///   - choice: the provider; none has `displayProviderDialog` show a picker and wait for `setSelectedProvider`.
  ///   - isForced: signs in anew even if that is done already.
  ///   - data: what a provider wants to know besides.
  ///   - filter: which providers the platform's picker shows.
  ///   - progress: hears what happens meanwhile, where the caller runs: the registration code, the phone that
  ///     connected, a URL to load. Of other calls it hears nothing.
  /// - Returns: the sign-in.
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

  /// Signs this device in, step by step: what happens meanwhile, and at last the sign-in.
  ///
  /// It begins at once. Whoever stops reading cancels the sign-in; nothing more is heard of it.
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
  ///   - choice: the provider; none has `displayProviderDialog` show a picker and wait for `setSelectedProvider`.
  ///   - isForced: signs in anew even if that is done already.
  ///   - data: what a provider wants to know besides.
  ///   - filter: which providers the platform's picker shows.
  /// - Returns: the steps of this call alone; they end with `.signedIn` or throw an ``EntitlementError``.
  public func signIn(
    _ choice: ProviderChoice? = nil, isForced: Bool = false, data: [String: String] = [:],
    filter: ProviderFilter? = nil
  ) -> SignInSteps {
    let details = AuthenticationRequest(isForced: isForced, data: data, filter: filter, choice: choice)
    return SignInSteps(runtime.steps(of: details))
  }

  /// Authorizes a resource and gets a short media token for it.
  ///
  /// - Parameters:
  ///   - resource: the resource's id.
  ///   - data: what a provider wants to know besides.
  ///   - signsIn: signs in first when nobody is signed in, as `getAuthorization` does.
  /// - Returns: the token.
  /// - Throws: ``EntitlementError``; its `area` says whether to sign in, to say no, or to try later.
  public func authorize(
    _ resource: String, data: [String: String] = [:], signsIn: Bool = false
  ) async throws(EntitlementError) -> MediaAccess {
    let call: AppCall =
      signsIn
      ? .getAuthorization(resource, data: data) : .checkAuthorization(resource, data: data)
    if case .access(let access) = try await runtime.outcome(of: .asked(call)) { return access }
    throw EntitlementError(.outOfOrder)
  }

  /// Which of these may the viewer watch? For decorating lists, never for playback.
  ///
  /// - Parameters:
  ///   - resources: the resources' ids.
  ///   - usesCache: whether an earlier answer for the same resources will do.
  /// - Returns: those that may be watched, in the order asked.
  /// - Throws: ``EntitlementError``.
  public func preauthorize(
    _ resources: [String], usesCache: Bool = true
  ) async throws(EntitlementError) -> [String] {
    let call = AppCall.preauthorize(resources, usesCache: usesCache)
    if case .resources(let allowed) = try await runtime.outcome(of: .asked(call)) { return allowed }
    throw EntitlementError(.outOfOrder)
  }

  /// A piece of metadata.
  ///
  /// - Parameter key: which.
  /// - Returns: the value; none when nobody knows it.
  /// - Throws: ``EntitlementError``.
  public func metadata(_ key: MetadataRequest) async throws(EntitlementError) -> Metadata {
    let call = AppCall.getMetadata(key, arguments: key.arguments)
    if case .metadata(let found) = try await runtime.outcome(of: .asked(call)) { return found }
    throw EntitlementError(.outOfOrder)
  }

  /// The provider that is selected or signed in with.
  public func selectedProvider() async -> MVPD? {
    guard case .selected(let provider) = try? await runtime.outcome(of: .asked(.getSelectedProvider))
    else { return nil }
    return provider
  }

  /// Signs this device out: first here, then at the service.
  ///
  /// - Throws: ``EntitlementError``; this device is signed out even then.
  public func signOut() async throws(EntitlementError) {
    _ = try await runtime.outcome(of: .asked(.logout))
  }
}
