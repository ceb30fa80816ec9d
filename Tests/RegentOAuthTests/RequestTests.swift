import RegentEncodings
import RegentHTTPCodec
import RegentOAuth
import RegentPairing
import Testing

@Suite("what a client sends") struct RequestTests {
  @Test func `empty is missing, unknown is ignored, twice is refused`() throws {
    let parameters = try parameters("client_id=a&scope=&claims=%7B%7D&resource=x&resource=y")
    #expect(parameters["client_id"] == "a")
    #expect(parameters["scope"] == nil)
    #expect(parameters.values("resource") == ["x", "y"])
    #expect(refusal { _ = try self.parameters("client_id=a&client_id=a") } == .invalidRequest)
    // Names are compared byte by byte: a letter that only looks the same is another parameter.
    #expect(try self.parameters("scop%D0%B5=x")["scope"] == nil)
  }

  @Test func `raw spaces in a form are read`() throws {
    #expect(try parameters("scope=openid profile")["scope"] == "openid profile")
  }

  @Test(
    arguments: [
      ("client_id=tv", nil, "tv", nil), ("client_id=tv&client_secret=s", nil, "tv", "s"),
      ("", "tv:s", "tv", "s"), ("client_id=tv", "tv:s", "tv", "s"), ("", "tv:", "tv", nil),
      ("", "t%2Dv:s%2D", "t-v", "s-"),
    ] as [(String, String?, String, String?)])
  func `one way to say who it is`(_ body: String, _ basic: String?, _ name: String, _ secret: String?) throws {
    let header = basic.map { "Basic " + Base64.encode(Array($0.utf8)) }
    let id = try #require(ClientID(name))
    let expected: ClientAuthentication =
      secret.map { .secret(id, $0, isBasic: basic != nil) } ?? .name(id, isBasic: basic != nil)
    #expect(try ClientAuthentication(authorization: header, parameters(body)) == expected)
  }

  @Test(
    arguments: [
      ("client_secret=s", "tv:s", OAuthError.Code.invalidRequest), ("client_id=other", "tv:s", .invalidRequest),
      ("client_assertion=x", "tv:s", .invalidRequest),
      ("client_id=tv&client_secret=s&client_assertion=x&client_assertion_type=y", nil, .invalidRequest),
      ("client_id=tv&client_assertion=x&client_assertion_type=saml", nil, .invalidClient),
      ("client_assertion_type=y&client_id=tv", nil, .invalidRequest), ("", nil, .invalidClient),
      ("client_id=a%20b", nil, .invalidClient),
    ] as [(String, String?, OAuthError.Code)])
  func `two ways at once, or none, are refused`(_ body: String, _ basic: String?, _ code: OAuthError.Code) {
    let header = basic.map { "Basic " + Base64.encode(Array($0.utf8)) }
    #expect(refusal { _ = try ClientAuthentication(authorization: header, self.parameters(body)) } == code)
  }

  @Test(arguments: ["Bearer x", "Basic", "Basic ???", "Basic " + Base64.encode(Array("nocolon".utf8))])
  func `another header asks for Basic`(_ header: String) throws {
    let error = #expect(throws: OAuthError.self) {
      try ClientAuthentication(authorization: header, self.parameters(""))
    }
    #expect(error?.code == .invalidClient)
    #expect(error?.asksForBasic == true)
  }

  @Test func `what a token request is about`() throws {
    let device = "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=abc_-9"
    #expect(try TokenRequest(parameters(device)) == .deviceCode("abc_-9", verifier: nil))
    #expect(
      try TokenRequest(parameters("grant_type=refresh_token&refresh_token=r&scope=openid"))
        == .refresh("r", scope: "openid"))
    #expect(refusal { _ = try TokenRequest(self.parameters("device_code=x")) } == .invalidRequest)
    #expect(refusal { _ = try TokenRequest(self.parameters("grant_type=password")) } == .unsupportedGrantType)
    #expect(
      refusal { _ = try TokenRequest(self.parameters("grant_type=refresh_token&refresh_token=a%2Fb")) }
        == .invalidGrant)
    let long = String(repeating: "a", count: 257)
    #expect(
      refusal { _ = try TokenRequest(self.parameters("grant_type=refresh_token&refresh_token=\(long)")) }
        == .invalidGrant)
  }

  @Test func `a sentence has no quote, no backslash and no letter beyond ASCII`() {
    for code in OAuthError.Code.allCases {
      #expect(code.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F })
    }
  }

  private func parameters(_ body: String) throws -> OAuthParameters {
    try OAuthParameters(FormParameters(encoded: body.utf8.span))
  }
}

/// With which word something was refused; nil when it was not.
func refusal(_ work: () throws -> Void) -> OAuthError.Code? {
  do {
    try work()
    return nil
  } catch {
    return (error as? OAuthError)?.code
  }
}
