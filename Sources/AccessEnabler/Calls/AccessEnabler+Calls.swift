extension AccessEnabler {
  /// Establishes the programmer's identity and fetches the list of providers.
  ///
  /// All services are asked at the same time. Where two list the same provider, the fastest wins, and later calls for
  /// that provider go there. Call it again when the app comes to the foreground: a sign-in or sign-out that happened
  /// elsewhere is then taken over. Ends with `setRequestorComplete`; calls made before that are queued.
  ///
  /// - Parameters:
  ///   - requestor: the programmer's id.
  ///   - serviceProviders: the services' addresses; none means those of the ``EnablerConfiguration``.
  public func setRequestor(_ requestor: String, serviceProviders: [String]? = nil) {
    runtime.post(.setRequestor(requestor, services: serviceProviders))
  }

  /// Sets options that go with every call from now on.
  public func setOptions(_ options: EnablerOptions) { runtime.post(.options(options)) }

  /// Looks for a valid sign-in in local storage, without the network; answers through `setAuthenticationStatus`.
  public func checkAuthentication() { runtime.post(.app(.checkAuthentication)) }

  /// Signs in, unless that is done already; ends with `setAuthenticationStatus`.
  ///
  /// Unless this device is signed in, `displayProviderDialog` comes first and waits for ``setSelectedProvider(_:)``.
  ///
  /// - Parameters:
  ///   - force: signs in anew even if that is done already.
  ///   - data: what a provider wants to know besides, for example a promotional pass's `email`.
  ///   - filter: which providers the platform's picker shows; `displayProviderDialog` brings all.
  public func getAuthentication(
    force: Bool = false, data: [String: String] = [:], filter: ProviderFilter? = nil
  ) {
    let details = AuthenticationRequest(isForced: force, data: data, filter: filter)
    runtime.post(.app(.getAuthentication(details)))
  }

  /// The viewer's choice; resumes the sign-in.
  ///
  /// While nobody signs in it is for the next time: `getAuthentication` then goes there without a picker. A temporary
  /// pass signs in at once, with no other call; a promotional one waits for the data of `getAuthentication`.
  ///
  /// - Parameter provider: a provider's id, or `nil` when the viewer went back: the sign-in ends with
  ///   `PROVIDER_NOT_SELECTED_ERROR`.
  public func setSelectedProvider(_ provider: String?) {
    runtime.post(.app(.setSelectedProvider(provider)))
  }

  /// Resumes the sign-in without a provider: the viewer chooses on the phone.
  public func selectProviderOnSecondScreen() { runtime.post(.app(.selectOnSecondScreen)) }

  /// The viewer's answer to `presentTvProviderDialog`; resumes the sign-in.
  ///
  /// `dismissTvProviderDialog` comes first. `other` and `cancel` lead to `displayProviderDialog`. A provider that is in
  /// the platform's picker only signs this app in by the regular flow; one that the box's account supports signs the
  /// box in, unless somebody is, and this app with it.
  public func answerTvProviderDialog(_ answer: TvProviderAnswer) {
    runtime.post(.app(.answerTvProviderDialog(answer)))
  }

  /// Replaces the registration code that is shown by a fresh one, for example because its time is nearly up.
  ///
  /// It never happens by itself: somebody may be typing the one on the screen.
  public func renewRegistrationCode() { runtime.post(.app(.renewCode)) }

  /// The browser came to the redirect URL: finishes signing in or out.
  ///
  /// - Parameter url: the URL that the browser came to.
  public func handleExternalURL(_ url: String) { runtime.post(.app(.handleExternalURL(url))) }

  /// Which of these may the viewer watch? For decorating lists, never for playback.
  ///
  /// Answers through `preauthorizedResources`.
  ///
  /// - Parameters:
  ///   - resources: the resources' ids.
  ///   - cache: whether an earlier answer for the same resources will do.
  public func checkPreauthorizedResources(_ resources: [String], cache: Bool = true) {
    runtime.post(.app(.preauthorize(resources, usesCache: cache)))
  }

  /// Authorizes a resource for whoever is signed in; nobody is asked to sign in.
  ///
  /// Ends with `setToken` or `tokenRequestFailed`.
  public func checkAuthorization(_ resource: String, data: [String: String] = [:]) {
    runtime.post(.app(.checkAuthorization(resource, data: data)))
  }

  /// Authorizes a resource, and signs in first when that is needed.
  ///
  /// Ends with `setToken` or `tokenRequestFailed`.
  public func getAuthorization(_ resource: String, data: [String: String] = [:]) {
    runtime.post(.app(.getAuthorization(resource, data: data)))
  }

  /// Answers `selectedProvider`.
  public func getSelectedProvider() { runtime.post(.app(.getSelectedProvider)) }

  /// Answers `setMetadataStatus` with the very arguments given here.
  ///
  /// - Parameter arguments: the dictionary form of a ``MetadataRequest``.
  public func getMetadata(_ arguments: [String: String]) {
    runtime.post(.app(.getMetadata(MetadataRequest(arguments), arguments: arguments)))
  }

  /// Signs this device out: first here, then at the service.
  ///
  /// Ends with `setAuthenticationStatus(0, …)`.
  public func logout() { runtime.post(.app(.logout)) }
}
