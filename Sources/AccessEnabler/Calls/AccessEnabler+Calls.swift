extension AccessEnabler {
  /// Sets the requestor and fetches the list of providers.
  ///
  /// The enabler asks all services at the same time. If two list the same provider, the one that answered first serves
  /// it, and later requests for that provider go there. Call this again when the app comes to the foreground, so that
  /// it takes over a sign-in or sign-out that happened elsewhere. The configuration ends with `setRequestorComplete`;
  /// calls that the app makes before that are queued.
  ///
  /// - Parameters:
  ///   - requestor: the requestor's id.
  ///   - serviceProviders: the URLs of the services; nil means those of the ``EnablerConfiguration``.
  public func setRequestor(_ requestor: String, serviceProviders: [String]? = nil) {
    runtime.post(.setRequestor(requestor, services: serviceProviders))
  }

  /// Sets options that are sent with each request from now on.
  public func setOptions(_ options: EnablerOptions) { runtime.post(.options(options)) }

  /// Checks the local store for a valid sign-in without a request.
  ///
  /// Ends with `setAuthenticationStatus`.
  public func checkAuthentication() { runtime.post(.app(.checkAuthentication)) }

  /// Signs this device in unless it is signed in already.
  ///
  /// Ends with `setAuthenticationStatus`.
  ///
  /// If this device is not signed in, `displayProviderDialog` is called first, and the sign-in waits for
  /// ``setSelectedProvider(_:)``.
  ///
  /// - Parameters:
  ///   - force: whether to sign in again although this device is signed in.
  ///   - data: further data that the provider needs, for example a promotional pass's `email`.
  ///   - filter: the providers in the picker for the box's shared account. `displayProviderDialog` always lists all.
  public func getAuthentication(
    force: Bool = false, data: [String: String] = [:], filter: ProviderFilter? = nil
  ) {
    let details = AuthenticationRequest(isForced: force, data: data, filter: filter)
    runtime.post(.app(.getAuthentication(details)))
  }

  /// Continues the sign-in with the provider that the viewer chose.
  ///
  /// If no sign-in is waiting, the choice is kept, and the next `getAuthentication` uses it without a picker. A
  /// temporary pass signs in at once, without another call; a promotional pass waits for the data of
  /// `getAuthentication`.
  ///
  /// - Parameter provider: a provider's id, or `nil` if the viewer left the picker: then the sign-in ends with
  ///   `PROVIDER_NOT_SELECTED_ERROR`.
  public func setSelectedProvider(_ provider: String?) {
    runtime.post(.app(.setSelectedProvider(provider)))
  }

  /// Continues the sign-in without a provider.
  ///
  /// The viewer chooses the provider on the phone.
  public func selectProviderOnSecondScreen() { runtime.post(.app(.selectOnSecondScreen)) }

  /// Continues the sign-in with the viewer's answer to `presentTvProviderDialog`.
  ///
  /// The enabler first calls `dismissTvProviderDialog`. `other` and `cancel` lead to `displayProviderDialog`. If the
  /// picker only lists the provider, this app signs in with a registration code or a browser. If the box's shared
  /// account supports the provider, the box signs in first, unless it is signed in, and then this app.
  public func answerTvProviderDialog(_ answer: TvProviderAnswer) {
    runtime.post(.app(.answerTvProviderDialog(answer)))
  }

  /// Replaces the shown registration code by a new one, for example because it expires soon.
  ///
  /// The enabler never does this by itself, because a viewer may be typing the code on the screen.
  public func renewRegistrationCode() { runtime.post(.app(.renewCode)) }

  /// Finishes a sign-in or sign-out after the browser has reached the app's redirect URL.
  ///
  /// - Parameter url: the URL that the browser reached.
  public func handleExternalURL(_ url: String) { runtime.post(.app(.handleExternalURL(url))) }

  /// Asks which of the resources the viewer may watch, for decorating lists.
  ///
  /// To play one, call `getAuthorization`.
  ///
  /// Ends with `preauthorizedResources`.
  ///
  /// - Parameters:
  ///   - resources: the resources' ids.
  ///   - cache: whether a cached answer for the same resources may be returned.
  public func checkPreauthorizedResources(_ resources: [String], cache: Bool = true) {
    runtime.post(.app(.preauthorize(resources, usesCache: cache)))
  }

  /// Authorizes a resource if this device is signed in; never starts a sign-in.
  ///
  /// Ends with `setToken` or `tokenRequestFailed`.
  public func checkAuthorization(_ resource: String, data: [String: String] = [:]) {
    runtime.post(.app(.checkAuthorization(resource, data: data)))
  }

  /// Authorizes a resource, and signs this device in first if necessary.
  ///
  /// Ends with `setToken` or `tokenRequestFailed`.
  public func getAuthorization(_ resource: String, data: [String: String] = [:]) {
    runtime.post(.app(.getAuthorization(resource, data: data)))
  }

  /// Asks for the provider that the viewer selected or signed in with.
  ///
  /// Ends with `selectedProvider`.
  public func getSelectedProvider() { runtime.post(.app(.getSelectedProvider)) }

  /// Asks for a piece of metadata.
  ///
  /// Ends with `setMetadataStatus`, which returns the same arguments.
  ///
  /// - Parameter arguments: the dictionary form of a ``MetadataRequest``.
  public func getMetadata(_ arguments: [String: String]) {
    runtime.post(.app(.getMetadata(MetadataRequest(arguments), arguments: arguments)))
  }

  /// Signs this device out, first in the local store, then at the service.
  ///
  /// Ends with `setAuthenticationStatus(0, …)`.
  public func logout() { runtime.post(.app(.logout)) }
}
