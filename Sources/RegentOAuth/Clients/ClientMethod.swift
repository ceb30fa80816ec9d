/// How a client authenticates at the token endpoint; the raw values are the registered names (RFC 7591 §2).
package enum ClientMethod: String, Sendable, CaseIterable {
  /// The client sends its secret in the `Authorization` header.
  case basic = "client_secret_basic"
  /// The client sends its secret in the request body.
  case post = "client_secret_post"
  /// The client sends a JWT that it signed with its own key (RFC 7523).
  case privateKey = "private_key_jwt"
  /// The client does not authenticate: it is a public client, whose copies all share one client id.
  case none = "none"

  /// Whether the service creates a secret for this client.
  ///
  /// A client may send its secret in the header or in the body, because some clients support only one of the two,
  /// whatever they registered.
  package var hasSecret: Bool { self == .basic || self == .post }
}
