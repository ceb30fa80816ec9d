public import RegentPairing

/// The response to a client registration, with `client_id` and `client_secret`.
public struct ClientDocument: WireDocument, Hashable {
  /// Required by the protocol `WireDocument`; this document is only sent as JSON.
  public static let root = XMLRoot("client")

  public var id: String
  /// The client's secret in clear text.
  ///
  /// Only this response contains it.
  public var secret: String
  /// The time of the client's registration.
  public var issued: Instant
  /// The registered redirect URIs.
  public var redirectURIs: [String]
  /// The software statement with which the client registered, unchanged (RFC 7591 §3.2.1).
  public var statement: String?

  public init(
    id: String, secret: String, issued: Instant, redirectURIs: [String], statement: String? = nil
  ) {
    self.id = id
    self.secret = secret
    self.issued = issued
    self.redirectURIs = redirectURIs
    self.statement = statement
  }

  /// The scopes that a client gets, as in responses of the original V1 service.
  public static let scopes = [
    "config:client", "decisions:client", "platform:sso", "profile:client", "tokens:client",
  ]

  public func write(to sink: inout some DocumentSink) {
    sink.text("client_id", id)
    sink.text("client_secret", secret)
    sink.number("client_id_issued_at", issued.milliseconds / 1000)
    // RFC 7591 §3.2.1 requires this member beside a secret; zero means that the secret does not expire.
    sink.number("client_secret_expires_at", 0)
    sink.texts("redirect_uris", item: "redirect_uri", redirectURIs)
    sink.texts("grant_types", item: "grant_type", ["client_credentials"])
    sink.texts("scopes", item: "scope", Self.scopes)
    sink.text("software_statement", ifKnown: statement)
  }
}

/// The response with an access token for a registered client.
public struct AccessTokenDocument: WireDocument, Hashable {
  /// Required by the protocol `WireDocument`; this document is only sent as JSON.
  public static let root = XMLRoot("token")

  public var id: String
  public var token: String
  /// The time at which the access token was issued.
  public var created: Instant
  /// The lifetime of the access token in seconds.
  public var lifetime: Int

  public init(id: String, token: String, created: Instant, lifetime: Int) {
    self.id = id
    self.token = token
    self.created = created
    self.lifetime = lifetime
  }

  /// Writes the members; `created_at` is in milliseconds, `expires_in` in seconds.
  public func write(to sink: inout some DocumentSink) {
    sink.text("id", id)
    sink.text("access_token", token)
    sink.number("created_at", created.milliseconds)
    sink.number("expires_in", Int64(lifetime))
    sink.text("token_type", "bearer")
  }
}

/// The error response of registration and token requests: `{"error":"…"}`.
public struct ClientErrorDocument: WireDocument, Hashable {
  /// Required by the protocol `WireDocument`; this document is only sent as JSON.
  public static let root = XMLRoot("error")

  /// The error codes in the protocol's documentation.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// A parameter is missing, repeated or malformed.
    case invalidRequest = "invalid_request"
    /// The redirect address is not allowed.
    case invalidRedirectURI = "invalid_redirect_uri"
    /// The software statement does not verify.
    case invalidSoftwareStatement = "invalid_software_statement"
    /// The operator revoked the software statement.
    case unapprovedSoftwareStatement = "unapproved_software_statement"
    /// The client is unknown or its secret is wrong. The client must register again.
    case invalidClient = "invalid_client"
    /// The client is not allowed to make this request.
    case unauthorizedClient = "unauthorized_client"
    /// The grant type is not `client_credentials`.
    case unsupportedGrantType = "unsupported_grant_type"
  }

  public var reason: Reason

  public init(_ reason: Reason) {
    self.reason = reason
  }

  public func write(to sink: inout some DocumentSink) {
    sink.text("error", reason.rawValue)
  }
}
