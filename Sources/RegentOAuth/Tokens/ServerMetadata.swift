internal import RegentCryptography
internal import RegentPairing
package import RegentJSON

/// The discovery document of the service (OpenID Connect Discovery, RFC 8414).
///
/// It contains `authorization_endpoint` because MSAL requires it even for the device grant. That endpoint answers
/// `unsupported_response_type`, and the list of response types is empty.
package struct ServerMetadata: Sendable, Hashable {
  /// The service's public URL followed by `/oauth`.
  ///
  /// Clients compare it byte by byte, so it must be spelled the same everywhere.
  package let issuer: String
  /// Whether clients may register themselves at the service.
  package let hasRegistration: Bool

  package init(issuer: String, hasRegistration: Bool) {
    self.issuer = issuer
    self.hasRegistration = hasRegistration
  }

  /// The paths of the endpoints below the issuer.
  package enum Endpoint: String, CaseIterable, Sendable {
    case authorization = "/authorize"
    case deviceAuthorization = "/device_authorization"
    case token = "/token"
    case userinfo = "/userinfo"
    case keys = "/keys"
    case registration = "/register"
    case introspection = "/introspect"
    case revocation = "/revoke"
    case discovery = "/.well-known/openid-configuration"
  }

  /// The name of the member that says for how many seconds the token endpoint holds a poll (`Prefer: wait=N`, RFC
  /// 7240).
  ///
  /// A client that finds this member polls at once, and again as soon as a held poll is answered. RFC 8628 has no other
  /// way to learn of an approval before the interval is over. The name is not standardized; RFC 8414 §2 allows
  /// additional members.
  package static let longestWait = "token_endpoint_longest_wait"

  package func address(_ endpoint: Endpoint) -> String { issuer + endpoint.rawValue }

  /// The path at which clients of RFC 8414 look for the document: the well-known name stands between the host and the
  /// issuer's path.
  package static func insertedPath(issuerPath: String) -> String {
    "/.well-known/oauth-authorization-server" + issuerPath
  }

  package var json: JSONObject {
    let algorithms = JSONValue.array(SignatureAlgorithm.allCases.map { .string($0.rawValue) })
    let methods = JSONValue.array(ClientMethod.allCases.map { .string($0.rawValue) })
    let confidential = JSONValue.array(
      ClientMethod.allCases.filter { $0 != .none }.map { .string($0.rawValue) })
    var object: JSONObject = [
      "issuer": .string(issuer),
      "authorization_endpoint": .string(address(.authorization)),
      "device_authorization_endpoint": .string(address(.deviceAuthorization)),
      "token_endpoint": .string(address(.token)),
      "userinfo_endpoint": .string(address(.userinfo)),
      "jwks_uri": .string(address(.keys)),
      "introspection_endpoint": .string(address(.introspection)),
      "revocation_endpoint": .string(address(.revocation)),
    ]
    object[Self.longestWait] = .integer(Int64(WaitPlan.longest))
    if hasRegistration { object["registration_endpoint"] = .string(address(.registration)) }
    let rest: JSONObject = [
      "scopes_supported": .array(Scope.Name.allCases.map { .string($0.rawValue) }),
      "response_types_supported": [],
      "grant_types_supported": [.string(TokenRequest.deviceCodeGrant), .string(TokenRequest.refreshGrant)],
      "subject_types_supported": ["pairwise"],
      "id_token_signing_alg_values_supported": algorithms,
      "token_endpoint_auth_methods_supported": methods,
      "token_endpoint_auth_signing_alg_values_supported": algorithms,
      "introspection_endpoint_auth_methods_supported": confidential,
      "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
      "revocation_endpoint_auth_methods_supported": methods,
      "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
      "code_challenge_methods_supported": ["S256"],
      "dpop_signing_alg_values_supported": algorithms,
      "claims_supported": ["iss", "sub", "aud", "exp", "iat", "auth_time"],
      "request_parameter_supported": false,
      "request_uri_parameter_supported": false,
    ]
    for member in rest.members { object[member.name] = member.value }
    return object
  }
}
