public import RegentPairing

/// What a registered client gets: `client_id` and `client_secret`.
public struct ClientDocument: WireDocument, Hashable {
  /// Always JSON; the root is for completeness.
  public static let root = XMLRoot("client")

  /// The client's id.
  public var id: String
  /// Its secret, in clear: the only time it is told.
  public var secret: String
  /// When it registered.
  public var issued: Instant
  /// Where it may be sent back to.
  public var redirectURIs: [String]
  /// The statement with which it registered, unchanged (RFC 7591 §3.2.1).
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

  /// The scopes that V1 clients were seen to get.
  public static let scopes = [
    "config:client", "decisions:client", "platform:sso", "profile:client", "tokens:client",
  ]

  /// Writes the documented members; `client_id_issued_at` is in seconds.
  public func write(to sink: inout some DocumentSink) {
    sink.text("client_id", id)
    sink.text("client_secret", secret)
    sink.number("client_id_issued_at", issued.milliseconds / 1000)
    // RFC 7591 §3.2.1 wants it beside every secret; zero means never.
    sink.number("client_secret_expires_at", 0)
    sink.texts("redirect_uris", item: "redirect_uri", redirectURIs)
    sink.texts("grant_types", item: "grant_type", ["client_credentials"])
    sink.texts("scopes", item: "scope", Self.scopes)
    sink.text("software_statement", ifKnown: statement)
  }
}

/// An access token of a registered client.
public struct AccessTokenDocument: WireDocument, Hashable {
  /// Always JSON; the root is for completeness.
  public static let root = XMLRoot("token")

  /// The token's own id.
  public var id: String
  public var token: String
  /// When it was made.
  public var created: Instant
  /// How long it lasts, in seconds.
  public var lifetime: Int

  public init(id: String, token: String, created: Instant, lifetime: Int) {
    self.id = id
    self.token = token
    self.created = created
    self.lifetime = lifetime
  }

  /// Writes the documented members; `created_at` is in milliseconds, `expires_in` in seconds.
  public func write(to sink: inout some DocumentSink) {
    sink.text("id", id)
    sink.text("access_token", token)
    sink.number("created_at", created.milliseconds)
    sink.number("expires_in", Int64(lifetime))
    sink.text("token_type", "bearer")
  }
}

/// Why a client was not registered or got no token: `{"error":"…"}`.
public struct ClientErrorDocument: WireDocument, Hashable {
  /// Always JSON; the root is for completeness.
  public static let root = XMLRoot("error")

  /// The documented reasons.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// A parameter is missing, repeated or malformed.
    case invalidRequest = "invalid_request"
    /// The redirect address is not allowed.
    case invalidRedirectURI = "invalid_redirect_uri"
    /// The software statement does not verify.
    case invalidSoftwareStatement = "invalid_software_statement"
    /// The software statement was revoked.
    case unapprovedSoftwareStatement = "unapproved_software_statement"
    /// Unknown client or wrong secret: register again.
    case invalidClient = "invalid_client"
    /// The client may not do this.
    case unauthorizedClient = "unauthorized_client"
    /// Another grant than `client_credentials`.
    case unsupportedGrantType = "unsupported_grant_type"
  }

  /// Why.
  public var reason: Reason

  public init(_ reason: Reason) {
    self.reason = reason
  }

  /// Writes the reason.
  public func write(to sink: inout some DocumentSink) {
    sink.text("error", reason.rawValue)
  }
}
