import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentOAuth
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

/// A box whose program is an OAuth client of the sample requestor.
struct OAuthBox: Sendable {
  /// The way in which the client authenticates.
  enum Way: Sendable, CaseIterable {
    case name, basic, body, key, emptyBasic
  }

  let client: any TestClient
  let id: String
  let secret: String
  let key: SigningKey?
  var way: Way
  /// The key of DPoP proofs; nil for Bearer tokens.
  var proofKey: SigningKey?
  /// The DPoP nonce to use; nil for the current one of the service.
  var proofNonce: String?
  let service: TestService

  static let issuer = "https://tv.example.org/oauth"
  static let grant = "urn:ietf:params:oauth:grant-type:device_code"

  /// Adds a client as an operator would.
  ///
  /// Its tokens are signed with ES256, because generating RSA keys is slow.
  init(
    _ service: TestService, _ client: any TestClient, _ way: Way = .name, algorithm: String = "ES256",
    scope: String? = nil, requestor: String = Sample.requestor, audience: String? = nil, name: String = "Kodi",
    origin: OAuthClientRecord.Origin = .operator
  ) async throws {
    self.service = service
    self.client = client
    self.way = way
    id = Random.uuid()
    secret = Random.text(43, from: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    key = way == .key ? try SigningKey.generate(.es256) : nil
    let method: ClientMethod =
      switch way {
      case .name, .emptyBasic: .none
      case .basic, .body: .basic
      case .key: .privateKey
      }
    var members: JSONObject = [
      "client_name": .string(name), "token_endpoint_auth_method": .string(method.rawValue),
      "id_token_signed_response_alg": .string(algorithm),
    ]
    members["scope"] = scope.map(JSONValue.string)
    members["jwks"] = key.map { .object(JWKSet([JWK($0.publicKey, keyID: "k")]).json) }
    let metadata = try ClientMetadata(reading: members)
    try await service.core.store.put(
      OAuthClientRecord(
        id: try named(id), requestor: try named(requestor), origin: origin, name: name,
        secret: method.hasSecret ? service.core.hasher.token(secret) : nil,
        metadata: String(decoding: metadata.json.bytes(), as: UTF8.self), audience: audience,
        created: service.clock.now),
      replacing: nil, in: .unlimited, audit: nil, at: service.clock.now)
  }

  /// The same client at a restarted service.
  init(_ other: OAuthBox, at service: TestService, _ client: any TestClient) {
    (self.service, self.client, id, secret, key) = (service, client, other.id, other.secret, other.key)
    (way, proofKey, proofNonce) = (other.way, other.proofKey, other.proofNonce)
  }

  /// Posts a form to an endpoint, with the authentication of this client.
  func post(
    _ path: String, _ form: [(name: String, value: String)], headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    var (form, headers) = (form, headers)
    switch way {
    case .name: form.append(("client_id", id))
    case .basic:
      headers.append(("Authorization", "Basic " + base64("\(id):\(secret)")))
      form.append(("client_id", id))
    case .emptyBasic: headers.append(("Authorization", "Basic " + base64("\(id):")))
    case .body: form += [("client_id", id), ("client_secret", secret)]
    case .key:
      form += [("client_assertion_type", ClientAuthentication.assertionType), ("client_assertion", try assertion())]
    }
    if let proofKey { headers.append(("DPoP", try proof(path, proofKey))) }
    return try await client.post("/oauth/" + path, form: form, headers: headers)
  }

  func assertion(audience: String = OAuthBox.issuer, id jti: String = Random.uuid()) throws -> String {
    // A second ahead of the service's clock, which stands still: the service refuses assertions of the second in which
    // it started.
    let now = service.clock.now.milliseconds / 1000 + 1
    let claims: JSONObject = [
      "iss": .string(id), "sub": .string(id), "aud": .string(audience), "jti": .string(jti),
      "iat": .integer(now), "exp": .integer(now + 60),
    ]
    return try JWS.sign(claims.bytes(), with: try #require(key), keyID: "k", type: "JWT")
  }

  func proof(_ path: String, _ key: SigningKey, method: String = "POST", token: String? = nil) throws -> String {
    let target = try #require(ProofTarget("\(Self.issuer)/\(path)"))
    return try DPoPProof.make(
      for: .init(method: method, target: target, accessToken: token), with: key,
      nonce: proofNonce ?? service.core.oauth.proofs.nonce(service.core.clock), at: service.clock.now)
  }

  // MARK: - The flow

  /// Requests a device code and returns it with its user code.
  func begin(_ more: [(name: String, value: String)] = []) async throws -> (device: String, user: String) {
    let answer = try await post("device_authorization", more)
    #expect(answer.status == 200, "\(answer.text)")
    let object = try answer.json()
    return (try object.string("device_code"), try object.string("user_code"))
  }

  func ask(
    _ device: String, _ more: [(name: String, value: String)] = [], headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    try await post("token", [("grant_type", Self.grant), ("device_code", device)] + more, headers: headers)
  }

  func refresh(_ token: String, _ more: [(name: String, value: String)] = []) async throws -> TestResponse {
    try await post("token", [("grant_type", "refresh_token"), ("refresh_token", token)] + more)
  }

  /// Requests a code, has it approved, and redeems it.
  func pair(_ more: [(name: String, value: String)] = []) async throws -> Tokens {
    let code = try await begin(more)
    try await service.approve(code.user)
    let answer = try await ask(code.device)
    #expect(answer.status == 200, "\(answer.text)")
    return try Tokens(answer)
  }

  func introspect(_ token: String) async throws -> JSONObject {
    try await post("introspect", [("token", token)]).json()
  }
}

/// The tokens in the response to a redemption or a refresh.
struct Tokens: Hashable, Sendable {
  let access: String
  let refresh: String?
  let identity: String?
  let kind: String
  let scope: String

  init(_ answer: TestResponse) throws {
    let object = try answer.json()
    access = try object.string("access_token")
    refresh = try object.optionalString("refresh_token")
    identity = try object.optionalString("id_token")
    kind = try object.string("token_type")
    scope = try object.string("scope")
  }
}

extension TestResponse {
  /// The `error` member of an OAuth error response.
  var error: String? { (try? json())?["error"]?.string }
}

func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }
