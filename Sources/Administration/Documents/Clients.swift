public import RegentPairing

/// How a client shows who it is.
public enum ClientKind: String, AdminWord {
  /// Not at all: everybody may have a copy of it.
  case `public`
  case secret
  /// By signing with a key of its own.
  case keys
}

/// A client that speaks OAuth, as lists show it: never its secret.
public struct ClientEntry: AdminDocument, Codable, Hashable {
  public let id: ClientID
  public let requestor: RequestorID
  /// What the phone's page calls it.
  public let name: String
  /// `operator`, `statement`, `invited` or `itself`: who says what it is.
  public let origin: String
  public let kind: ClientKind
  /// What its tokens are signed with.
  public let algorithm: String
  /// What it may have, with a space between the names.
  public let scope: String
  /// For whom its access tokens are, when not for this service.
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

/// A new client, with its secret this one time.
public struct IssuedClient: AdminDocument, Codable {
  public let id: ClientID
  /// None for a client that is public or has a key.
  public let secret: String?
  /// What the client is told to ask.
  public let issuer: String

  public init(id: ClientID, secret: String?, issuer: String) {
    self.id = id
    self.secret = secret
    self.issuer = issuer
  }
}

/// A token with which clients register themselves, as lists show it: never the token.
public struct ClientInvitationEntry: AdminDocument, Codable, Hashable {
  public let id: EnrolmentID
  public let requestor: RequestorID
  /// For how many clients it is.
  public let uses: Int64
  /// How many have registered with it.
  public let used: Int64
  public let created: Instant
  public let expires: Instant

  /// How long one stands when nobody says.
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

/// A new token with which clients register themselves, this one time.
public struct IssuedClientInvitation: AdminDocument, Codable {
  public let id: EnrolmentID
  /// What a client shows when it registers.
  public let token: String
  /// What the client is told to ask.
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

/// What a client was given on one device, as lists show it.
public struct GrantEntry: AdminDocument, Codable, Hashable {
  public let id: GrantID
  public let client: ClientID
  /// What the phone's page calls the client; none while the grant does not stand.
  public let name: String?
  /// Who gave it, as `provider/account`; none for a guest, and while it does not stand.
  public let viewer: String?
  /// `good`, `paused` while its account or integration is switched off, or `over` when one of these is gone.
  public let state: String
  public let scope: String
  /// Whether a key must be shown with each token.
  public let bound: Bool
  public let created: Instant
  /// When its refresh token was used for the last time.
  public let used: Instant
  /// When it ends if it is not used before.
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
