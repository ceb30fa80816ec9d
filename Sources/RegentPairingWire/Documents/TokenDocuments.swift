public import RegentPairing

/// The response of `tokens/authn`, `checkauthn` and `authenticate/{code}` for a device that is signed in.
public struct AuthenticationDocument: WireDocument, Hashable {
  public static let root = XMLRoot("authentication")

  public var requestor: String
  public var provider: String
  /// The viewer's id: a pseudonym that differs for each requestor.
  public var userID: String
  /// The time at which the authentication expires.
  public var expires: Instant

  public init(requestor: String, provider: String, userID: String, expires: Instant) {
    self.requestor = requestor
    self.provider = provider
    self.userID = userID
    self.expires = expires
  }

  /// Writes the members in the order that the protocol documents for JSON and XML.
  ///
  /// The member `expires` is a text.
  public func write<Sink: DocumentSink>(to sink: inout Sink) {
    switch Sink.format {
    case .json:
      sink.text("requestor", requestor)
      sink.text("mvpd", provider)
      sink.text("userId", userID)
      sink.text("expires", String(expires.milliseconds))
    case .xml:
      sink.text("expires", String(expires.milliseconds))
      sink.text("userId", userID)
      sink.text("mvpd", provider)
      sink.text("requestor", requestor)
    }
  }
}

/// The response of `authorize` and `tokens/authz` when the viewer may watch a resource.
public struct AuthorizationDocument: WireDocument, Hashable {
  public static let root = XMLRoot("authorization")

  public var provider: String
  /// The resource, as the app named it.
  public var resource: String
  public var requestor: String
  /// The time at which the authorization expires.
  public var expires: Instant
  /// The provider that ``provider`` is a proxy for, if any.
  public var proxiedProvider: String?

  public init(
    provider: String, resource: String, requestor: String, expires: Instant,
    proxiedProvider: String? = nil
  ) {
    self.provider = provider
    self.resource = resource
    self.requestor = requestor
    self.expires = expires
    self.proxiedProvider = proxiedProvider
  }

  /// Writes the members in the order that the protocol documents for JSON and XML.
  ///
  /// The member `expires` is a text.
  public func write<Sink: DocumentSink>(to sink: inout Sink) {
    switch Sink.format {
    case .json:
      sink.text("mvpd", provider)
      sink.text("resource", resource)
      sink.text("requestor", requestor)
      sink.text("expires", String(expires.milliseconds))
    case .xml:
      sink.text("expires", String(expires.milliseconds))
      sink.text("mvpd", provider)
      sink.text("requestor", requestor)
      sink.text("resource", resource)
    }
    sink.text("proxyMvpd", ifKnown: proxiedProvider)
  }
}

/// The response of `tokens/media`, with a short-lived media token.
public struct MediaTokenDocument: WireDocument, Hashable {
  public static let root = XMLRoot("play")

  /// The resource that may be played, as the app named it.
  public var resource: String
  public var requestor: String
  public var expires: Instant
  /// The token in base64, the result of ``MediaToken/serialized(signature:)``.
  public var serializedToken: String
  /// The viewer's id: a pseudonym that differs for each requestor.
  public var userID: String
  public var provider: String

  public init(
    resource: String, requestor: String, expires: Instant, serializedToken: String,
    userID: String, provider: String
  ) {
    self.resource = resource
    self.requestor = requestor
    self.expires = expires
    self.serializedToken = serializedToken
    self.userID = userID
    self.provider = provider
  }

  /// Writes the members in the order that the protocol documents for JSON and XML.
  ///
  /// The member `expires` is a text.
  public func write<Sink: DocumentSink>(to sink: inout Sink) {
    switch Sink.format {
    case .json:
      sink.text("resource", resource)
      sink.text("requestor", requestor)
      sink.text("expires", String(expires.milliseconds))
      sink.text("serializedToken", serializedToken)
      sink.text("userId", userID)
      sink.text("mvpdId", provider)
    case .xml:
      sink.text("expires", String(expires.milliseconds))
      sink.text("mvpdId", provider)
      sink.text("requestor", requestor)
      sink.text("resource", resource)
      sink.text("serializedToken", serializedToken)
      sink.text("userId", userID)
    }
  }
}
