internal import RegentCryptography
internal import RegentPairing
package import RegentJSON

/// What clients find out about the service by themselves (OpenID Connect Discovery, RFC 8414).
///
/// `authorization_endpoint` is there because clients that only ever use the device grant ask for it (MSAL); it answers
/// `unsupported_response_type`, as the list of response types says: it is empty.
package struct ServerMetadata: Sendable, Hashable {
  /// The public address with `/oauth`: the same bytes wherever it is said.
  package let issuer: String
  /// Whether clients may register themselves.
  package let hasRegistration: Bool

  package init(issuer: String, hasRegistration: Bool) {
    self.issuer = issuer
    self.hasRegistration = hasRegistration
  }

  /// Below the issuer, each in one place.
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

  /// The most seconds for which the token endpoint holds a question about a code (`Prefer: wait=N`, RFC 7240).
  ///
  /// A client that finds it asks at once, and again as soon as a question that was held is answered. RFC 8628 has no
  /// other way to hear of an approval before the interval is over. The name is ours; RFC 8414 §2 allows more members.
  package static let longestWait = "token_endpoint_longest_wait"

  package func address(_ endpoint: Endpoint) -> String { issuer + endpoint.rawValue }

  /// Where RFC 8414 looks: the well-known name between the host and the issuer's path.
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
