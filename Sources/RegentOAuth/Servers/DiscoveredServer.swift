internal import RegentCryptography
package import RegentHTTPCodec
package import RegentJSON

/// The error for a response of another OAuth server that cannot be used.
///
/// The sentence is a fixed text and repeats nothing untrusted of the response.
package struct ForeignAnswerError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The endpoints of an OAuth server, as the box reads them from its discovery document (OpenID Connect Discovery, RFC
/// 8414).
///
/// The document comes over TLS from the issuer that the box's owner chose. It must name that issuer, byte for byte,
/// because otherwise one server could send its clients to another server. All endpoints must use TLS or be on this
/// machine.
package struct DiscoveredServer: Sendable, Hashable {
  package let issuer: String
  package let deviceAuthorization: String
  package let token: String
  package let revocation: String?
  /// How a client sends its secret to the server: in the header, unless the server supports only the body.
  package let secretMethod: ClientMethod
  /// Whether the server supports DPoP with ES256, the algorithm of the box's keys.
  package let hasDPoP: Bool
  /// Whether the server supports long polling for a code (``ServerMetadata/longestWait``).
  package let holdsQuestions: Bool

  /// The longest discovery document that is read, in bytes.
  ///
  /// Keycloak's has 7,000.
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
    // A server whose document lacks this list supports the header (RFC 8414 §2).
    let knowsHeader = methods?.contains(ClientMethod.basic.rawValue) ?? true
    let knowsBody = methods?.contains(ClientMethod.post.rawValue) ?? false
    secretMethod = !knowsHeader && knowsBody ? .post : .basic
    // The name of the member for long polling is not standardized. A value that is not a number counts as "not
    // supported" and does not make the document invalid.
    holdsQuestions = (object[ServerMetadata.longestWait]?.int64 ?? 0) > 0
    hasDPoP = proofs?.contains(SignatureAlgorithm.es256.rawValue) ?? false
  }

  /// The URLs at which an issuer's discovery document may be, in the order to try.
  ///
  /// Empty if the text cannot be an issuer.
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
    // An endpoint may be an unencrypted port of this machine only if the issuer is on this machine, too.
    guard ForeignAddress.callable(text, allowsLoopback: issuer.hasPrefix("http://")) != nil else {
      throw ForeignAnswerError("its \(name) is no address with https")
    }
    return text
  }
}

/// Checks URLs that another OAuth server sends.
package enum ForeignAddress {
  /// The longest accepted URL, in bytes.
  ///
  /// A QR code has little room for more.
  private static let longest = 512

  /// Parses an https address, or an http address of this machine.
  ///
  /// Returns `nil` for all others, and for addresses with non-ASCII letters, control characters, a user name or a
  /// password.
  package static func callable(_ text: String, allowsLoopback: Bool) -> AbsoluteURL? {
    guard text.utf8.count <= longest, let url = try? AbsoluteURL(parsing: text) else { return nil }
    if url.scheme == "https" { return url }
    return allowsLoopback && url.scheme == "http" && url.host.isLoopback ? url : nil
  }
}
