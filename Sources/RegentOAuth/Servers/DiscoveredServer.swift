internal import RegentCryptography
package import RegentHTTPCodec
package import RegentJSON

/// What somebody else's server says cannot be used; the sentence is ours and repeats nothing of it.
package struct ForeignAnswerError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Where a server of OAuth is called, from its own document (OpenID Connect Discovery, RFC 8414), as a box reads it.
///
/// The document comes over TLS from the issuer that somebody chose, and is believed no further than that: it must be
/// about that issuer, byte for byte, or one server could send its clients to another's; and all that is called has TLS,
/// or is on this machine.
package struct DiscoveredServer: Sendable, Hashable {
  package let issuer: String
  package let deviceAuthorization: String
  package let token: String
  package let revocation: String?
  /// How a client with a secret shows it: in the header, unless the server only knows the body.
  package let secretMethod: ClientMethod
  /// Whether tokens can be bound to a key of this kind.
  package let hasDPoP: Bool
  /// Whether questions about a code may be held (``ServerMetadata/longestWait``).
  package let holdsQuestions: Bool

  /// The longest document that is read, in bytes; Keycloak's has 7,000.
  package static let longest = 65_536
  package static let limits = JSONLimits(depth: 16, bytes: longest)

  package init(_ object: JSONObject, askedFor issuer: String) throws(ForeignAnswerError) {
    let said: String, device: String?, token: String, revocation: String?, methods: [String]?, proofs: [String]?
    do throws(JSONShapeError) {
      said = try object.string("issuer")
      device = try object.optionalString("device_authorization_endpoint")
      token = try object.string("token_endpoint")
      revocation = try object.optionalString("revocation_endpoint")
      methods = try object.optionalStrings("token_endpoint_auth_methods_supported")
      proofs = try object.optionalStrings("dpop_signing_alg_values_supported")
    } catch {
      throw ForeignAnswerError("its document is none of OAuth's: \(error)")
    }
    guard said.utf8.elementsEqual(issuer.utf8) else {
      throw ForeignAnswerError("its document is about another issuer: --issuer must be what it says, to the letter")
    }
    guard let device else {
      throw ForeignAnswerError("its document has no device_authorization_endpoint: it signs no boxes in")
    }
    self.issuer = issuer
    deviceAuthorization = try Self.callable(device, "device_authorization_endpoint", issuer)
    self.token = try Self.callable(token, "token_endpoint", issuer)
    self.revocation =
      if let revocation { try Self.callable(revocation, "revocation_endpoint", issuer) } else { nil }
    // Without a list a server takes the header (RFC 8414 §2).
    let knowsHeader = methods?.contains(ClientMethod.basic.rawValue) ?? true
    let knowsBody = methods?.contains(ClientMethod.post.rawValue) ?? false
    secretMethod = !knowsHeader && knowsBody ? .post : .basic
    // Another server may mean something else by the name: what is no number is no reason to refuse its document.
    holdsQuestions = (object[ServerMetadata.longestWait]?.int64 ?? 0) > 0
    hasDPoP = proofs?.contains(SignatureAlgorithm.es256.rawValue) ?? false
  }

  /// The places where an issuer's document is looked for, best first; none when the text cannot be an issuer.
  package static func documents(of issuer: String) -> [String] {
    guard let url = ForeignAddress.callable(issuer, allowsLoopback: true), url.query == nil, url.fragment == nil
    else { return [] }
    var path = url.path
    while path.hasSuffix("/") { path.removeLast() }
    return [
      url.origin + path + ServerMetadata.Endpoint.discovery.rawValue,
      url.origin + ServerMetadata.insertedPath(issuerPath: path),
    ]
  }

  private static func callable(
    _ text: String, _ name: String, _ issuer: String
  ) throws(ForeignAnswerError) -> String {
    // Only an issuer that is on this machine itself may send us to a port of this machine in the clear.
    guard ForeignAddress.callable(text, allowsLoopback: issuer.hasPrefix("http://")) != nil else {
      throw ForeignAnswerError("its \(name) is no address with https")
    }
    return text
  }
}

/// An address that somebody else's server names.
package enum ForeignAddress {
  /// The longest that is taken, in bytes: a QR code has room for hardly more.
  private static let longest = 512

  /// An address with TLS, or on this machine; nil for all others, and for what is no plain address: letters beyond
  /// ASCII, control characters, names and passwords in it.
  package static func callable(_ text: String, allowsLoopback: Bool) -> AbsoluteURL? {
    guard text.utf8.count <= longest, let url = try? AbsoluteURL(parsing: text) else { return nil }
    if url.scheme == "https" { return url }
    return allowsLoopback && url.scheme == "http" && url.host.isLoopback ? url : nil
  }
}
