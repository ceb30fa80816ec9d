/// How a client authenticates at the token endpoint; the raw values are the registered names (RFC 7591 §2).
package enum ClientMethod: String, Sendable, CaseIterable {
  /// The client's secret in the `Authorization` header.
  case basic = "client_secret_basic"
  /// The client's secret in the request body.
  case post = "client_secret_post"
  /// A JWT signed with the client's own key (RFC 7523).
  case privateKey = "private_key_jwt"
  /// No authentication: a public client, whose copies all share one client id.
  case none = "none"

  /// Whether the service creates a secret for this client.
  ///
  /// A client with a secret may send it in either way, because some clients support only one way, whatever they
  /// registered.
  package var hasSecret: Bool { self == .basic || self == .post }
}
