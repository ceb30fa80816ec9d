import RegentEncodings
import RegentHTTPCodec
import RegentOAuth
import RegentPairing
import Testing

@Suite("Parameters of OAuth requests") struct RequestTests {
  @Test func `an empty parameter is missing, an unknown one is ignored, and a repeated one is refused`() throws {
    let parameters = try parameters("client_id=a&scope=&claims=%7B%7D&resource=x&resource=y")
    #expect(parameters["client_id"] == "a")
    #expect(parameters["scope"] == nil)
    #expect(parameters.values("resource") == ["x", "y"])
    #expect(refusal { _ = try self.parameters("client_id=a&client_id=a") } == .invalidRequest)
    // Names are compared byte by byte: a Cyrillic letter makes it another parameter.
    #expect(try self.parameters("scop%D0%B5=x")["scope"] == nil)
  }

  @Test func `unescaped spaces in a form are read`() throws {
    #expect(try parameters("scope=openid profile")["scope"] == "openid profile")
  }

  @Test(
    arguments: [
      ("client_id=tv", nil, "tv", nil), ("client_id=tv&client_secret=s", nil, "tv", "s"),
      ("", "tv:s", "tv", "s"), ("client_id=tv", "tv:s", "tv", "s"), ("", "tv:", "tv", nil),
      ("", "t%2Dv:s%2D", "t-v", "s-"),
    ] as [(String, String?, String, String?)])
  func `a client may send its name alone, or with its secret in the form or the Basic header`(
    _ body: String, _ basic: String?, _ name: String, _ secret: String?
  ) throws {
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
  func `a client that authenticates in two ways or in none is refused`(
    _ body: String, _ basic: String?, _ code: OAuthError.Code
  ) {
    let header = basic.map { "Basic " + Base64.encode(Array($0.utf8)) }
    #expect(refusal { _ = try ClientAuthentication(authorization: header, self.parameters(body)) } == code)
  }

  @Test(arguments: ["Bearer x", "Basic", "Basic ???", "Basic " + Base64.encode(Array("nocolon".utf8))])
  func `a header other than a valid Basic one is refused with a Basic challenge`(_ header: String) throws {
    let error = #expect(throws: OAuthError.self) {
      try ClientAuthentication(authorization: header, self.parameters(""))
    }
    #expect(error?.code == .invalidClient)
    #expect(error?.asksForBasic == true)
  }

  @Test func `a token request is read by its grant type`() throws {
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

  @Test func `error codes have only lower-case letters and underscores`() {
    for code in OAuthError.Code.allCases {
      #expect(code.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F })
    }
  }

  private func parameters(_ body: String) throws -> OAuthParameters {
    try OAuthParameters(FormParameters(encoded: body.utf8.span))
  }
}

/// The OAuth error code that `work` throws; nil when it throws none.
func refusal(_ work: () throws -> Void) -> OAuthError.Code? {
  do {
    try work()
    return nil
  } catch {
    return (error as? OAuthError)?.code
  }
}
