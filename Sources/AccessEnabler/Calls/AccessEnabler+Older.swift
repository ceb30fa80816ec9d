internal import RegentCryptography
public import RegentPlatform

// The calls of older versions, for programs that are written for them.

extension AccessEnabler {
  /// An enabler that registers itself with a software statement.
  ///
  /// - Parameters:
  ///   - softwareStatement: identifies the application.
  ///   - storage: where tokens are kept; by default a folder of this program in the user's state directory.
  ///   - login: on a phone, or in a browser on this device.
  ///   - delegate: receives the callbacks.
  /// - Throws: `FileError` when the token store's folder cannot be used.
  public convenience init(
    softwareStatement: String, storage: TokenStorage = .usual, login: LoginMethod = .secondScreen,
    delegate: (any EntitlementDelegate)? = nil
  ) throws(FileError) {
    var configuration = EnablerConfiguration(
      credentials: .softwareStatement(Secret(softwareStatement)), storage: storage)
    configuration.login = login
    try self.init(configuration, delegate: delegate)
  }

  /// An enabler without credentials; the `setRequestor` with a secret gives it some.
  @available(*, deprecated, message: "give the software statement or the key pair at the beginning")
  public convenience init(
    storage: TokenStorage, delegate: (any EntitlementDelegate)? = nil
  ) throws(FileError) {
    try self.init(EnablerConfiguration(storage: storage), delegate: delegate)
  }

  /// An enabler without credentials, in the form of versions 1 and 2; set ``delegate`` afterwards.
  ///
  /// - Throws: `FileError` when the token store's folder cannot be used.
  @available(*, deprecated, message: "give the software statement or the key pair at the beginning")
  public convenience init() throws(FileError) { try self.init(EnablerConfiguration(storage: .usual)) }

  /// Establishes the programmer's identity with its signature.
  ///
  /// - Parameters:
  ///   - requestor: the programmer's id.
  ///   - signedRequestorID: its signature by the programmer's private RSA key, in base64.
  ///   - serviceProviders: the services' addresses.
  @available(
    *, deprecated, message: "use setRequestor(_:serviceProviders:) with a software statement"
  )
  public func setRequestor(
    _ requestor: String, signedRequestorID: String, serviceProviders: [String]? = nil
  ) {
    runtime.post(.signedRequestorID(signedRequestorID))
    setRequestor(requestor, serviceProviders: serviceProviders)
  }

  /// Establishes the programmer's identity and signs the calls of this app with a key pair.
  ///
  /// - Parameters:
  ///   - requestor: the programmer's id.
  ///   - signedRequestorID: its signature by the programmer's private RSA key, in base64; may be empty.
  ///   - secret: the secret half of the key pair.
  ///   - publicKey: its public half.
  ///   - serviceProviders: the services' addresses.
  @available(*, deprecated, message: "use Credentials.keyPair of EnablerConfiguration")
  public func setRequestor(
    _ requestor: String, signedRequestorID: String, secret: String, publicKey: String,
    serviceProviders: [String]? = nil
  ) {
    runtime.post(.credentials(.keyPair(publicKey: publicKey, secret: Secret(secret))))
    if !signedRequestorID.isEmpty { runtime.post(.signedRequestorID(signedRequestorID)) }
    setRequestor(requestor, serviceProviders: serviceProviders)
  }

  /// Establishes the programmer's identity and signs the calls of this app with a key pair: the original's order of
  /// arguments.
  ///
  /// - Parameters:
  ///   - requestor: the programmer's id.
  ///   - signedRequestorID: its signature by the programmer's private RSA key, in base64; may be empty.
  ///   - serviceProviders: the services' addresses.
  ///   - secret: the secret half of the key pair.
  ///   - publicKey: its public half.
  @available(*, deprecated, message: "use Credentials.keyPair of EnablerConfiguration")
  public func setRequestor(
    _ requestor: String, signedRequestorID: String, serviceProviders: [String]?, secret: String, publicKey: String
  ) {
    setRequestor(
      requestor, signedRequestorID: signedRequestorID, secret: secret, publicKey: publicKey,
      serviceProviders: serviceProviders)
  }

  /// Sets options by their historic names.
  ///
  /// - Parameter options: `applicationProfile`, `visitorID`, `handleSVC` (`true` or `false`) and `device_info` (a JSON
  ///   object of the protocol's names); others go with every call as they are.
  public func setOptions(_ options: [String: String]) { setOptions(EnablerOptions(options)) }

  /// Sets options by their historic names, with numbers and truth values among them.
  ///
  /// - Parameter options: the same names.
  public func setOptions(_ options: [String: OptionValue]) { setOptions(EnablerOptions(options)) }

  /// Finishes a sign-in in a browser.
  @available(*, deprecated, renamed: "handleExternalURL(_:)")
  public func getAuthenticationToken() { handleExternalURL("") }

  /// Signs in; the platform's picker shows these providers only, in this order, and `displayProviderDialog` brings all.
  @available(*, deprecated, message: "use getAuthentication(force:data:filter:)")
  public func getAuthentication(_ filter: [String]) {
    getAuthentication(filter: ProviderFilter(providers: filter))
  }
}
