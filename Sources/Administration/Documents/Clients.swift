public import RegentPairing

/// How an OAuth client authenticates itself.
public enum ClientKind: String, AdminWord {
  /// The client does not authenticate itself.
  ///
  /// Every viewer can have a copy of it, so a secret in it would be known.
  case `public`
  case secret
  /// The client authenticates itself with a signature of its own key (`private_key_jwt`).
  case keys
}

/// An OAuth client in a list, without its secret.
public struct ClientEntry: AdminDocument, Codable, Hashable {
  public let id: ClientID
  public let requestor: RequestorID
  /// The client's name, as the phone's page shows it.
  public let name: String
  /// Who registered or confirmed the client: `operator`, `statement`, `invited` or `itself`.
  public let origin: String
  public let kind: ClientKind
  /// The algorithm that signs the client's tokens, such as `ES256`.
  public let algorithm: String
  /// The scope that the client may request, separated by spaces.
  public let scope: String
  /// The audience of the client's access tokens; nil when they are for this service.
  public let audience: String?
  public let created: Instant

  public init(
    id: ClientID, requestor: RequestorID, name: String, origin: String, kind: ClientKind, algorithm: String,
    scope: String, audience: String?, created: Instant
  ) {
    self.id = id
    self.requestor = requestor
    self.name = name
    self.origin = origin
    self.kind = kind
    self.algorithm = algorithm
    self.scope = scope
    self.audience = audience
    self.created = created
  }
}

/// A new OAuth client.
///
/// Only this response contains its secret.
public struct IssuedClient: AdminDocument, Codable {
  public let id: ClientID
  /// The client's secret; nil for a client that is public or has its own key.
  public let secret: String?
  /// The issuer URL that the client must be configured with.
  public let issuer: String

  public init(id: ClientID, secret: String?, issuer: String) {
    self.id = id
    self.secret = secret
    self.issuer = issuer
  }
}

/// An initial access token in a list, without the token itself.
///
/// Clients register themselves with it.
public struct ClientInvitationEntry: AdminDocument, Codable, Hashable {
  public let id: EnrolmentID
  public let requestor: RequestorID
  /// The number of clients that may register with this initial access token.
  public let uses: Int64
  /// The number of clients that have registered with this initial access token.
  public let used: Int64
  public let created: Instant
  public let expires: Instant

  /// The default lifetime of an initial access token in seconds.
  public static let usualSeconds = 86_400
  public static let mostSeconds = 365 * 86_400

  public init(
    id: EnrolmentID, requestor: RequestorID, uses: Int64, used: Int64, created: Instant, expires: Instant
  ) {
    self.id = id
    self.requestor = requestor
    self.uses = uses
    self.used = used
    self.created = created
    self.expires = expires
  }
}

/// A new initial access token.
///
/// Only this response contains the token.
public struct IssuedClientInvitation: AdminDocument, Codable {
  public let id: EnrolmentID
  /// The token that a client sends when it registers itself.
  public let token: String
  /// The issuer URL that the client must be configured with.
  public let issuer: String
  public let uses: Int64
  public let expires: Instant

  public init(id: EnrolmentID, token: String, issuer: String, uses: Int64, expires: Instant) {
    self.id = id
    self.token = token
    self.issuer = issuer
    self.uses = uses
    self.expires = expires
  }
}

/// A grant in a list: a viewer's permission for an OAuth client to use a sign-in on one device.
public struct GrantEntry: AdminDocument, Codable, Hashable {
  public let id: GrantID
  public let client: ClientID
  /// The client's name on the phone's page; nil while the grant is not valid.
  public let name: String?
  /// The viewer who gave the grant, as `provider/account`; nil for a guest, and while the grant is not valid.
  public let viewer: String?
  /// The state of the grant: `good`; `paused` while its account or integration is switched off; `over` when one of
  /// these was removed.
  public let state: String
  public let scope: String
  /// Whether each use of a token must prove possession of a key (DPoP, RFC 9449).
  public let bound: Bool
  public let created: Instant
  /// The time at which the grant's refresh token was last used.
  public let used: Instant
  /// The time at which the grant expires unless it is used before.
  public let expires: Instant

  public init(
    id: GrantID, client: ClientID, name: String?, viewer: String?, state: String, scope: String, bound: Bool,
    created: Instant, used: Instant, expires: Instant
  ) {
    self.id = id
    self.client = client
    self.name = name
    self.viewer = viewer
    self.state = state
    self.scope = scope
    self.bound = bound
    self.created = created
    self.used = used
    self.expires = expires
  }
}
