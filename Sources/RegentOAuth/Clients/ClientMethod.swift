/// How a client shows who it is at the token endpoint, by the registered names (RFC 7591 §2).
package enum ClientMethod: String, Sendable, CaseIterable {
  /// A secret in the header.
  case basic = "client_secret_basic"
  /// A secret in the body.
  case post = "client_secret_post"
  /// A signature with a key of its own.
  case privateKey = "private_key_jwt"
  /// Nothing: a public client, of which everybody may have a copy.
  case none = "none"

  /// Whether a secret is made for it.
  ///
  /// Either way to show one is taken: some clients know only one of the two, whatever they registered with.
  package var hasSecret: Bool { self == .basic || self == .post }
}
