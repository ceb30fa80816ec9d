public import RegentPairing

/// That a device is signed in: what `tokens/authn`, `checkauthn` and `authenticate/{code}` answer.
public struct AuthenticationDocument: WireDocument, Hashable {
  public static let root = XMLRoot("authentication")

  /// Whose app.
  public var requestor: String
  public var provider: String
  /// The viewer, as the provider names it to this app.
  public var userID: String
  /// When it ends.
  public var expires: Instant

  public init(requestor: String, provider: String, userID: String, expires: Instant) {
    self.requestor = requestor
    self.provider = provider
    self.userID = userID
    self.expires = expires
  }

  /// Writes the members in the order that each form documents; `expires` is a text.
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

/// That a resource may be watched: what `authorize` and `tokens/authz` answer.
public struct AuthorizationDocument: WireDocument, Hashable {
  public static let root = XMLRoot("authorization")

  public var provider: String
  /// What may be watched, as the app named it.
  public var resource: String
  /// Whose app.
  public var requestor: String
  /// When it ends.
  public var expires: Instant
  /// The provider behind the provider.
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

  /// Writes the members in the order that each form documents; `expires` is a text.
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

/// A short media token: what `tokens/media` answers.
public struct MediaTokenDocument: WireDocument, Hashable {
  /// `<play>`.
  public static let root = XMLRoot("play")

  /// What may be played, as the app named it.
  public var resource: String
  /// Whose app.
  public var requestor: String
  /// When the token ends.
  public var expires: Instant
  /// The token: ``MediaToken/serialized(signature:)``.
  public var serializedToken: String
  /// The viewer, scrambled.
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

  /// Writes the members in the order that each form documents; `expires` is a text.
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
