import RegentCryptography
import RegentJSON
import RegentOAuth
import RegentPairing
import Testing

@Suite("Access tokens, ID tokens and server responses") struct TokenTests {
  private let now = Instant(milliseconds: 1_790_000_000_000)
  private let issuer = "https://tv.example.com/oauth"
  private let audience = "https://tv.example.com"

  private func claims() throws -> AccessTokenClaims {
    AccessTokenClaims(
      issuer: issuer, subject: "v1", audience: audience, client: try #require(ClientID("tv")),
      scope: Scope([.openid, .entitlements]), grant: "g1", id: "t1", issued: now, expires: now + .seconds(600),
      thumbprint: "k")
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `an access token reads back and is refused for another issuer, audience or time`(_ algorithm: SignatureAlgorithm)
    throws
  {
    let key = try SigningKey.generate(algorithm, rsaBits: 2048)
    let text = try claims().signed(with: key, keyID: "k1")
    let verified = try UnverifiedJWS(text).verified(with: key.publicKey)
    #expect(verified.header["typ"]?.string == "at+jwt")
    #expect(verified.header["kid"]?.string == "k1")
    #expect(try AccessTokenClaims(verified, issuer: issuer, audience: audience, at: now) == claims())
    let read = { (issuer: String, audience: String, time: Instant) in
      AccessTokenClaims(verified, issuer: issuer, audience: audience, at: time)
    }
    #expect(read(issuer + "/", audience, now) == nil)
    #expect(read(issuer, "https://other.example.com", now) == nil)
    #expect(read(issuer, audience, now + .seconds(600)) == nil)
  }

  @Test func `an ID token is not accepted as an access token`() throws {
    let key = try SigningKey.generate(.es256)
    let text = try IDTokenClaims(
      issuer: issuer, subject: "v1", client: try #require(ClientID("tv")), issued: now, expires: now + .seconds(600),
      authenticated: now, accessToken: "a"
    ).signed(with: key, keyID: "k1")
    let verified = try UnverifiedJWS(text).verified(with: key.publicKey)
    #expect(AccessTokenClaims(verified, issuer: issuer, audience: "tv", at: now) == nil)
    #expect(try verified.claims()["aud"]?.string == "tv")
    // The left half of the SHA-256 of "a".
    #expect(try verified.claims()["at_hash"]?.string == "ypeBEsobvcr6wjGzmiPcTQ")
  }

  @Test func `responses of other servers are read in their variants`() throws {
    let old: JSONObject = [
      "device_code": "d", "user_code": "u", "verification_url": "https://x/d", "expires_in": 600, "more": true,
    ]
    let answer = try DeviceAuthorizationAnswer(reading: old)
    #expect(answer.interval == 5)
    #expect(answer.verificationURI == "https://x/d")
    #expect(try DeviceAuthorizationAnswer(reading: answer.json) == answer)
    for (name, value) in [("expires_in", 0), ("interval", -1), ("device_code", nil)] as [(String, JSONValue?)] {
      var broken = old
      broken[name] = value
      #expect(throws: JSONShapeError.self) { try DeviceAuthorizationAnswer(reading: broken) }
    }
    let tokens = TokenAnswer(
      accessToken: "a", kind: "DPoP", lifetime: 600, refreshToken: "r", scope: "openid", idToken: nil)
    let object = try #require(try JSONValue(reading: tokens.bytes()).object)
    #expect(try TokenAnswer(reading: object) == tokens)
  }

  @Test func `the metadata name one issuer, and every endpoint is below it`() {
    let metadata = ServerMetadata(issuer: issuer, hasRegistration: false).json
    #expect(metadata["issuer"]?.string == issuer)
    for member in metadata.members where member.name.hasSuffix("_endpoint") || member.name.hasSuffix("_uri") {
      #expect(member.value.string?.hasPrefix(issuer + "/") == true, "\(member.name)")
    }
    #expect(metadata["registration_endpoint"] == nil)
    #expect(ServerMetadata(issuer: issuer, hasRegistration: true).json["registration_endpoint"] != nil)
    #expect(
      ServerMetadata.insertedPath(issuerPath: "/tv/oauth") == "/.well-known/oauth-authorization-server/tv/oauth")
  }
}

@Suite("OAuth client registration and assertions") struct ClientTests {
  @Test func `the registration request of oidc-agent is accepted`() throws {
    let client = try ClientMetadata(reading: [
      "application_type": "native", "client_name": "oidc-agent:tv", "response_types": [],
      "grant_types": ["refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      "redirect_uris": ["edu.kit.data.oidc-agent:/redirect", "http://localhost:8080"],
    ])
    #expect(client.method == .basic)
    #expect(client.scope == .all)
    #expect(client.json["scope"]?.string == Scope.all.text)
    #expect(client.json["redirect_uris"]?.array?.count == 2)
  }

  @Test func `the claims of a software statement override the request`() throws {
    let client = try ClientMetadata(
      reading: ["client_name": "Bank", "scope": "openid entitlements"],
      statement: ["client_name": "Acme TV", "scope": "openid"])
    #expect(client.name == "Acme TV")
    #expect(client.scope == Scope([.openid]))
  }

  @Test(
    arguments: [
      (["client_name": "a\u{1B}[2J"] as JSONObject, OAuthError.Code.invalidClientMetadata),
      (["client_name": "a\u{202E}b"], .invalidClientMetadata), (["client_name": 5], .invalidClientMetadata),
      (["jwks_uri": "http://169.254.169.254/"], .invalidClientMetadata),
      (["token_endpoint_auth_method": "private_key_jwt"], .invalidClientMetadata),
      (["token_endpoint_auth_method": "tls_client_auth"], .invalidClientMetadata),
      (["grant_types": ["password"]], .invalidClientMetadata),
      (["id_token_signed_response_alg": "none"], .invalidClientMetadata),
      (["redirect_uris": ["javascript:alert(1)"]], .invalidRedirectURI),
      (["redirect_uris": ["https://x/#f"]], .invalidRedirectURI),
      (["redirect_uris": ["/relative"]], .invalidRedirectURI),
      (["scope": "a\"b"], .invalidScope),
    ] as [(JSONObject, OAuthError.Code)])
  func `a hostile registration is refused`(_ members: JSONObject, _ code: OAuthError.Code) {
    #expect(refusal { _ = try ClientMetadata(reading: members) } == code)
  }

  @Test func `each part of a client assertion is checked`() throws {
    let key = try SigningKey.generate(.es256)
    let now = Instant(milliseconds: 1_790_000_000_000)
    let keys = [JWK(key.publicKey, keyID: nil)]
    let audiences = ["https://tv.example.com/oauth", "https://tv.example.com/oauth/token"]
    let whole: JSONObject = [
      "iss": "tv", "sub": "tv", "aud": .string(audiences[1]), "jti": "1",
      "exp": .integer(now.milliseconds / 1000 + 300),
    ]
    func check(
      _ claims: JSONObject, with signer: SigningKey? = nil, type: String? = "JWT"
    ) throws -> ClientAssertion.Checked {
      let text = try JWS.sign(claims.bytes(), with: signer ?? key, keyID: nil, type: type)
      return try ClientAssertion(text).check(with: keys, audiences: audiences, at: now)
    }
    let first = try check(whole)
    var again = whole
    again["aud"] = .array([.string(audiences[0])])
    #expect(try check(again).fingerprint == first.fingerprint)
    for type in [nil, "jwt", "client-authentication+jwt", "application/client-authentication+jwt"] {
      #expect(try check(whole, type: type).fingerprint == first.fingerprint)
    }
    // A time may have a fraction (RFC 7519 §2); some libraries write one.
    for (name, value) in [("exp", 300.5), ("nbf", 0.25), ("nbf", 59.9)] {
      var fraction = whole
      fraction[name] = .double(Double(now.milliseconds / 1000) + value)
      #expect(try check(fraction).fingerprint == first.fingerprint, "\(name)")
    }
    for type in ["at+jwt", "dpop+jwt", "secevent+jwt", "software-statement+jwt", "JWE", ""] {
      #expect(refusal { _ = try check(whole, type: type) } == .invalidClient, "\(type)")
    }
    for (name, value) in [
      ("iss", "other"), ("sub", "other"), ("aud", "https://tv.example.com"), ("aud", nil), ("jti", ""), ("jti", nil),
      ("exp", nil), ("exp", .integer(now.milliseconds / 1000 - 61)), ("exp", .integer(now.milliseconds / 1000 + 3661)),
      ("nbf", .integer(now.milliseconds / 1000 + 3600)), ("nbf", "soon"),
      ("exp", .double(Double(now.milliseconds / 1000) - 60.5)), ("exp", .double(1e300)), ("exp", .double(-1e300)),
      // Assertions with several audiences are refused, even when all of them are this service's.
      ("aud", .array(["x", .string(audiences[0])])), ("aud", .array([.string(audiences[0]), .string(audiences[1])])),
      ("aud", .array([.string(audiences[0]), 5])), ("aud", []), ("aud", [5]),
    ] as [(String, JSONValue?)] {
      var broken = whole
      broken[name] = value
      #expect(refusal { _ = try check(broken) } == .invalidClient, "\(name)")
    }
    let other = try SigningKey.generate(.es256)
    #expect(refusal { _ = try check(whole, with: other) } == .invalidClient)
    // Without `iat` an assertion is valid until its `exp`, at most an hour. With `iat` it is valid for at most ten
    // minutes from then.
    let second = now.milliseconds / 1000
    for (issued, end, until) in [
      (nil, 3600, 3600), (0, 3600, 600), (-300, 3600, 300), (0, 86_400 * 400, 600), (0, 60, 60), (-659, 3600, -59),
      (59, 3600, 659), (-660, 3600, nil), (61, 3600, nil), (3600, 7200, nil), (-10_000, 3600, nil),
    ] as [(Int64?, Int64, Int64?)] {
      var timed = whole
      timed["exp"] = .integer(second + end)
      timed["iat"] = issued.map { .integer(second + $0) }
      guard let until else {
        #expect(refusal { _ = try check(timed) } == .invalidClient, "iat \(issued ?? 0)")
        continue
      }
      #expect(try check(timed).expires == Instant(milliseconds: (second + until) * 1000))
    }
    var broken = whole
    broken["iat"] = "now"
    #expect(refusal { _ = try check(broken) } == .invalidClient)
  }
}
