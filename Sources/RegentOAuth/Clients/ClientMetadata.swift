package import RegentCryptography
package import RegentJSON

/// The metadata that a client registers (RFC 7591 §2).
///
/// Members that the service does not use are ignored.
///
/// The service verifies none of the metadata. It never fetches a URL from it, because an attacker could otherwise make
/// the service send requests into its internal network (SSRF).
package struct ClientMetadata: Sendable, Hashable {
  /// The client's name, which the phone shows as unverified.
  package var name: String?
  package var method: ClientMethod
  package var redirectURIs: [String]
  package var scope: Scope
  /// The client's public keys, if it authenticates with `private_key_jwt`; otherwise empty.
  package var keys: [JWK]
  /// The algorithm with which the service signs ID tokens for this client.
  package var algorithm: SignatureAlgorithm
  package var softwareID: String?
  package var softwareVersion: String?

  package static let mostRedirectURIs = 16
  private static let longestURI = 2048
  private static let longestName = 128
  private static let longestKeyID = 128
  private static let mostKeys = 8

  /// Reads a registration request.
  ///
  /// Claims of a verified software statement replace the plain members (RFC 7591 §2.3).
  package init(reading members: JSONObject, statement: JSONObject? = nil) throws(OAuthError) {
    var said = members
    for claim in statement?.members ?? [] { said[claim.name] = claim.value }
    do throws(JSONShapeError) {
      name = try said.optionalString("client_name")
      method = try Self.method(said)
      redirectURIs = try said.optionalStrings("redirect_uris") ?? []
      algorithm = try Self.algorithm(said)
      softwareID = try said.optionalString("software_id").map(Self.bounded)
      softwareVersion = try said.optionalString("software_version").map(Self.bounded)
      try Self.checkGrants(said)
    } catch {
      throw OAuthError(.invalidClientMetadata, "a member of the registration has an invalid value")
    }
    if let name, name.utf8.count > Self.longestName || !ShownName.isName(name) {
      throw OAuthError(
        .invalidClientMetadata,
        "the client's name must have visible characters, at most 128 bytes, and no control characters")
    }
    guard said["jwks_uri"]?.isNull ?? true else {
      throw OAuthError(.invalidClientMetadata, "send the keys in jwks; the service does not fetch jwks_uri")
    }
    keys = try Self.keys(said, method)
    guard redirectURIs.count <= Self.mostRedirectURIs, redirectURIs.allSatisfy(Self.isAddress) else {
      throw OAuthError(.invalidRedirectURI, "a redirect address must be absolute and without a fragment")
    }
    guard let wanted = try Self.scope(said), !wanted.isEmpty else {
      scope = .all
      return
    }
    // Unknown scopes are dropped, and the response names the remaining ones. If none remain, the registration fails,
    // because granting all scopes would give the client more than it asked for.
    scope = try Scope(wanted)
    guard !scope.isEmpty else {
      throw OAuthError(
        .invalidClientMetadata,
        "none of the requested scopes exists: the scopes are openid, profile, offline_access and entitlements")
    }
  }

  /// The stored metadata, as the registration response repeats it.
  ///
  /// `scope` is always present, because oidc-agent stops without it.
  package var json: JSONObject {
    var object: JSONObject = [
      "token_endpoint_auth_method": .string(method.rawValue),
      "grant_types": [.string(TokenRequest.deviceCodeGrant), .string(TokenRequest.refreshGrant)],
      "response_types": [],
      "redirect_uris": .array(redirectURIs.map(JSONValue.string)),
      "scope": .string(scope.text),
      "id_token_signed_response_alg": .string(algorithm.rawValue),
    ]
    object["client_name"] = name.map(JSONValue.string)
    object["software_id"] = softwareID.map(JSONValue.string)
    object["software_version"] = softwareVersion.map(JSONValue.string)
    if !keys.isEmpty { object["jwks"] = .object(JWKSet(keys).json) }
    return object
  }

  /// The keys as the JSON text of a JWK set for the database, or `nil` if there are none.
  package var keyText: String? {
    keys.isEmpty ? nil : String(decoding: JWKSet(keys).json.bytes(), as: UTF8.self)
  }

  // MARK: - Members

  private static func method(_ said: JSONObject) throws(JSONShapeError) -> ClientMethod {
    guard let text = try said.optionalString("token_endpoint_auth_method") else { return .basic }
    guard let method = ClientMethod(rawValue: text) else {
      throw JSONShapeError(name: "token_endpoint_auth_method", expected: "one that is supported")
    }
    return method
  }

  private static func scope(_ said: JSONObject) throws(OAuthError) -> String? {
    do throws(JSONShapeError) {
      return try said.optionalString("scope")
    } catch {
      throw OAuthError(.invalidClientMetadata, "scope must be a text: names with one space between them")
    }
  }

  private static func algorithm(_ said: JSONObject) throws(JSONShapeError) -> SignatureAlgorithm {
    guard let text = try said.optionalString("id_token_signed_response_alg") else { return .rs256 }
    guard let algorithm = SignatureAlgorithm(rawValue: text) else {
      throw JSONShapeError(name: "id_token_signed_response_alg", expected: "one that is supported")
    }
    return algorithm
  }

  /// Accepts any list of grants that contains the device grant.
  ///
  /// The others are ignored, as RFC 7591 allows.
  private static func checkGrants(_ said: JSONObject) throws(JSONShapeError) {
    guard let grants = try said.optionalStrings("grant_types"), !grants.isEmpty else { return }
    guard grants.contains(where: { $0.utf8.elementsEqual(TokenRequest.deviceCodeGrant.utf8) }) else {
      throw JSONShapeError(name: "grant_types", expected: "the device grant")
    }
  }

  private static func keys(_ said: JSONObject, _ method: ClientMethod) throws(OAuthError) -> [JWK] {
    guard method == .privateKey else { return [] }
    guard let document = said["jwks"]?.object, let set = try? JWKSet(reading: document.bytes()),
      !set.keys.isEmpty, set.keys.count <= mostKeys,
      // The key ids of a client are stored with each code that it requests, so their length is limited.
      set.keys.allSatisfy({ ($0.keyID ?? "").utf8.count <= longestKeyID })
    else {
      throw OAuthError(
        .invalidClientMetadata,
        "private_key_jwt needs jwks with one to eight public keys, each with a kid of at most 128 bytes")
    }
    return set.keys
  }

  private static func bounded(_ text: String) throws(JSONShapeError) -> String {
    guard text.utf8.count <= longestName, ShownName.isFit(text) else {
      throw JSONShapeError(name: "software_id", expected: "a short text")
    }
    return text
  }

  /// Whether the text is an absolute URI of any scheme except those that browsers run as a script or a document.
  ///
  /// Custom schemes are allowed because native apps use them.
  private static func isAddress(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count <= longestURI, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 1 < bytes.count
    else { return false }
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    return scheme.utf8.allSatisfy { TokenRequest.isTokenLetter($0) || $0 == 0x2B || $0 == 0x2E }
      && !["javascript", "data", "vbscript", "file", "about", "blob"].contains(scheme)
  }
}
