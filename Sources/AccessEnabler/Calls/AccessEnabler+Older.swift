internal import RegentCryptography
public import RegentPlatform

// Calls of older versions of the original SDK, so that programs written for them compile.

extension AccessEnabler {
  /// Creates an enabler that registers the app with a software statement.
  ///
  /// - Parameters:
  ///   - softwareStatement: the signed text that identifies the application (RFC 7591).
  ///   - storage: where tokens are stored; by default a folder of this program in the user's state directory.
  ///   - login: whether viewers sign in on a phone or in a browser on this device.
  ///   - delegate: receives the callbacks.
  /// - Throws: `FileError` if the folder of the token store cannot be used.
  public convenience init(
    softwareStatement: String, storage: TokenStorage = .usual, login: LoginMethod = .secondScreen,
    delegate: (any EntitlementDelegate)? = nil
  ) throws(FileError) {
    var configuration = EnablerConfiguration(
      credentials: .softwareStatement(Secret(softwareStatement)), storage: storage)
    configuration.login = login
    try self.init(configuration, delegate: delegate)
  }

  /// Creates an enabler without credentials.
  ///
  /// Call the `setRequestor` that takes a secret to set them.
  @available(*, deprecated, message: "give the software statement or the key pair at the beginning")
  public convenience init(
    storage: TokenStorage, delegate: (any EntitlementDelegate)? = nil
  ) throws(FileError) {
    try self.init(EnablerConfiguration(storage: storage), delegate: delegate)
  }

  /// Creates an enabler without credentials, as in versions 1 and 2.
  ///
  /// Set ``delegate`` afterwards.
  ///
  /// - Throws: `FileError` if the folder of the token store cannot be used.
  @available(*, deprecated, message: "give the software statement or the key pair at the beginning")
  public convenience init() throws(FileError) { try self.init(EnablerConfiguration(storage: .usual)) }

  /// Sets the requestor and proves it with a signature.
  ///
  /// - Parameters:
  ///   - requestor: the requestor's id.
  ///   - signedRequestorID: the id's signature by the publisher's private RSA key, in base64.
  ///   - serviceProviders: the URLs of the services.
  @available(
    *, deprecated, message: "use setRequestor(_:serviceProviders:) with a software statement"
  )
  public func setRequestor(
    _ requestor: String, signedRequestorID: String, serviceProviders: [String]? = nil
  ) {
    runtime.post(.signedRequestorID(signedRequestorID))
    setRequestor(requestor, serviceProviders: serviceProviders)
  }

  /// Sets the requestor and the key pair that signs this app's requests.
  ///
  /// - Parameters:
  ///   - requestor: the requestor's id.
  ///   - signedRequestorID: the id's signature by the publisher's private RSA key, in base64; may be empty.
  ///   - secret: the secret half of the key pair.
  ///   - publicKey: the public half of the key pair.
  ///   - serviceProviders: the URLs of the services.
  @available(*, deprecated, message: "use Credentials.keyPair of EnablerConfiguration")
  public func setRequestor(
    _ requestor: String, signedRequestorID: String, secret: String, publicKey: String,
    serviceProviders: [String]? = nil
  ) {
    runtime.post(.credentials(.keyPair(publicKey: publicKey, secret: Secret(secret))))
    if !signedRequestorID.isEmpty { runtime.post(.signedRequestorID(signedRequestorID)) }
    setRequestor(requestor, serviceProviders: serviceProviders)
  }

  /// Sets the requestor and the key pair that signs this app's requests, with the original's order of arguments.
  ///
  /// - Parameters:
  ///   - requestor: the requestor's id.
  ///   - signedRequestorID: the id's signature by the publisher's private RSA key, in base64; may be empty.
  ///   - serviceProviders: the URLs of the services.
  ///   - secret: the secret half of the key pair.
  ///   - publicKey: the public half of the key pair.
  @available(*, deprecated, message: "use Credentials.keyPair of EnablerConfiguration")
  public func setRequestor(
    _ requestor: String, signedRequestorID: String, serviceProviders: [String]?, secret: String, publicKey: String
  ) {
    setRequestor(
      requestor, signedRequestorID: signedRequestorID, secret: secret, publicKey: publicKey,
      serviceProviders: serviceProviders)
  }

  /// Sets options by the names of the original API.
  ///
  /// - Parameter options: `applicationProfile`, `visitorID`, `handleSVC` (`true` or `false`) and `device_info` (a
  ///   JSON object with the protocol's names). Other options are sent unchanged with each request.
  public func setOptions(_ options: [String: String]) { setOptions(EnablerOptions(options)) }

  /// Sets options by the names of the original API.
  ///
  /// Values may be strings, numbers and booleans.
  public func setOptions(_ options: [String: OptionValue]) { setOptions(EnablerOptions(options)) }

  /// Finishes a sign-in in a browser, as `handleExternalURL` does.
  @available(*, deprecated, renamed: "handleExternalURL(_:)")
  public func getAuthenticationToken() { handleExternalURL("") }

  /// Signs this device in.
  ///
  /// The picker for the box's shared account lists only the providers of the filter, in its order.
  /// `displayProviderDialog` lists all.
  @available(*, deprecated, message: "use getAuthentication(force:data:filter:)")
  public func getAuthentication(_ filter: [String]) {
    getAuthentication(filter: ProviderFilter(providers: filter))
  }
}
