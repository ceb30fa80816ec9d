import RegentCryptography
import HTTPTestSupport
import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

private let register = "/o/client/register"
private let token = "/o/client/token"

@Suite struct `Registration of OAuth clients` {
  @Test(arguments: TestTransport.allCases)
  func `an app registers with its statement, gets a token and calls the service`(transport: TestTransport) async throws
  {
    let service = try await TestService()
    let statement = try await service.statement()
    try await transport.withClient(of: try service.router()) { client in
      let made = try await client.register(statement)
      #expect(made.status == 201)
      #expect(made.header("cache-control") == "no-store")
      #expect(made.header("content-type") == "application/json;charset=utf-8")
      let record = try made.json()
      #expect(try record.string("software_statement") == statement)
      #expect(try record.int64("client_secret_expires_at") == 0)
      #expect(try record.strings("grant_types") == ["client_credentials"])
      let (id, secret) = (try record.string("client_id"), try record.string("client_secret"))
      #expect(secret.count == 64)

      let issued = try await client.token(id, secret)
      #expect(issued.status == 200)
      #expect(issued.header("cache-control") == "no-store")
      let answer = try issued.json()
      #expect(try answer.int64("expires_in") == 21_600)
      #expect(try answer.string("token_type") == "bearer")
      #expect(try answer.int64("created_at") == service.clock.now.milliseconds)
      let access = try answer.string("access_token")

      // The token is accepted in the header, in the query and in a form.
      let asked = "/api/v1/checkauthn?deviceId=box-1&format=json"
      let bearer = (name: "Authorization", value: "Bearer \(access)")
      #expect(try await client.get(asked, headers: [bearer]).status == 403)
      #expect(try await client.get("\(asked)&access_token=\(access)").status == 403)
      let code = try await client.post(
        "/reggie/v1/REF30/regcode?deviceId=box-1",
        form: [("access_token", access), ("format", "json")])
      #expect(code.status == 201)
      let about = try #require(try code.json()["info"]?.object)
      #expect(try about.string("authorizationType") == "OAUTH2")
      #expect(about["sourceApplicationInformation"]?["name"]?.string == "Sample app")
    }
  }

  @Test func `an access token is valid for six hours`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let access = try await client.access(statement)
      let call = { try await client.get("/api/v1/config/REF30", headers: [bearer(access)]) }
      service.clock.pass(.seconds(6 * 3600 - 1))
      #expect(try await call().status == 200)
      service.clock.pass(.seconds(1))
      let late = try await call()
      #expect(late.status == 401)
      #expect(late.header("www-authenticate") == "Bearer error=\"invalid_token\"")
      #expect(late.text.contains("access_denied"))
    }
  }

  @Test func `duplicate or mixed credentials are refused`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let access = try await client.access(statement)
      let twice = [
        (name: "Authorization", value: "Bearer \(access)"),
        (name: "Authorization", value: "Bearer \(access)"),
      ]
      #expect(
        try await client.get(
          "/api/v1/config/REF30?access_token=\(access)", headers: [bearer(access)]
        ).status == 400)
      #expect(try await client.get("/api/v1/config/REF30", headers: twice).status == 401)
      let path = "/api/v1/config/REF30"
      let both = "\(path)?access_token=\(access)"
      #expect(
        try await client.get(both, headers: [try service.signature("GET", path)]).status == 400)
      #expect(
        try await client.get("\(path)?access_token=\(access)&access_token=\(access)").status == 400)
      #expect(try await client.get("/api/v1/config/OTHER", headers: [bearer(access)]).status == 400)
    }
  }

  @Test func `the client of a revoked application is told to register again, and its statement is refused`()
    async throws
  {
    let service = try await TestService()
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let record = try await client.register(statement).json()
      let (id, secret) = (try record.string("client_id"), try record.string("client_secret"))
      let access = try await client.token(id, secret).json().string("access_token")
      try await service.revokeApplication()
      let refused = try await client.get("/api/v1/config/REF30", headers: [bearer(access)])
      #expect(refused.status == 403)
      #expect(refused.text.contains("invalid_client"))
      #expect(try await client.token(id, secret).refusal == "invalid_client")
      #expect(try await client.register(statement).refusal == "unapproved_software_statement")
    }
  }

  @Test func `registrations store nothing, and clients of earlier releases stay valid`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    let store = service.core.store
    let application = try #require(service.core.provisioning.now.records.applications.values.first)
    let stored = try ClientRecord(
      id: #require(ClientID("3f1c9f0e-8f0a-4c51-9d5b-0a4c2a4f7e11")), secret: service.core.hasher.token("a secret"),
      application: application.id, requestor: application.requestor, issued: service.clock.now)
    try await store.register(stored, at: service.clock.now)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let record = try await client.register(statement).json()
      let (id, secret) = (try record.string("client_id"), try record.string("client_secret"))
      #expect(try await store.client(#require(ClientID(id))) == nil)
      #expect(try await client.token(stored.id.text, "a secret").status == 200)
      // The secret fits its own id only, and an id without a derived secret is unknown.
      let other = try await client.register(statement).json().string("client_id")
      let wrong = [(other, secret), (id, String(secret.reversed())), (id + "x", secret), ("v1." + secret, secret)]
      for (id, secret) in wrong {
        #expect(try await client.token(id, secret).refusal == "invalid_client")
      }
      // Another node, and this one after a restart, derive the same secret.
      #expect(try await client.token(id, secret).status == 200)
      #expect(try await KeyedHasher(store).clientSecret(#require(ClientID(id))) == secret)
    }
  }

  @Test func `a software statement stays valid after key rotation, and one of another service is refused`() async throws
  {
    let service = try await TestService()
    let statement = try await service.statement()
    let keys = service.core.mediaKeys
    _ = try await keys.rotate(audit: nil, at: service.clock.now)
    service.clock.pass(.seconds(3600))
    try await keys.retireReplaced(tokenLifetime: .seconds(420), at: service.clock.now)
    #expect(service.core.statements.read(statement) != nil)
    service.clock.pass(.seconds(86_400))
    while try await service.core.store.forgetExpired(at: service.clock.now, limit: 100) > 0 {}
    try await keys.refresh()
    #expect(try await service.core.store.signingKeys().count == 1)
    #expect(service.core.statements.read(statement) != nil)
    let other = try await TestService()
    #expect(other.core.statements.read(statement) == nil)
  }
}

@Suite struct `Refusals of client registration` {
  @Test func `a statement with any single byte changed is refused`() async throws {
    let service = try await TestService()
    let statement = Array(try await service.statement().utf8)
    #expect(service.core.statements.read(String(decoding: statement, as: UTF8.self)) != nil)
    for place in statement.indices {
      var changed = statement
      changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(
        service.core.statements.read(String(decoding: changed, as: UTF8.self)) == nil, "\(place)")
    }
  }

  @Test(arguments: [
    ("{}", "invalid_request"),
    ("", "invalid_request"),
    ("[]", "invalid_request"),
    (#"{"software_statement":""}"#, "invalid_request"),
    (#"{"software_statement":5}"#, "invalid_request"),
    (#"{"software_statement":"x","software_statement":"y"}"#, "invalid_request"),
    (#"{"software_statement":"x","redirect_uri":["app://x"]}"#, "invalid_request"),
    (#"{"software_statement":"x"} "#, "invalid_software_statement"),
    (#"{"software_statement":"x"}x"#, "invalid_request"),
    (#"{"software_statement":"a.b.c","unknown":[1,{}]}"#, "invalid_software_statement"),
  ])
  func `a registration body that is malformed or has an invalid statement is refused with the documented reason`(
    body: String, reason: String
  ) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.send(jsonRequest(register, body))
      #expect(answer.refusal == reason)
      #expect(answer.header("cache-control") == "no-store")
    }
  }

  @Test func `registration refuses form bodies and redirect URIs that the requestor does not allow`() async throws {
    let service = try await TestService(options: { _ in }) { $0.redirectURIs = ["adbe.app://back"] }
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      #expect(
        try await client.post(register, form: [("software_statement", statement)]).refusal
          == "invalid_request")
      for (address, reason) in [
        ("adbe.app://back", nil), ("https://tv.example.com/x", nil),
        ("https://evil.example.net/", "invalid_redirect_uri"),
        ("https://example.com@evil.example.net/", "invalid_redirect_uri"),
        ("javascript:alert(1)", "invalid_redirect_uri"), ("", "invalid_redirect_uri"),
      ] {
        let answer = try await client.register(statement, redirect: address)
        #expect(answer.refusal == reason, "\(address)")
        if reason == nil { #expect(try answer.json().strings("redirect_uris") == [address]) }
      }
      #expect(try await client.get(register).status == 405)
    }
  }

  @Test func `a malformed token request is refused with the documented reason`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let record = try await client.register(statement).json()
      let (id, secret) = (try record.string("client_id"), try record.string("client_secret"))
      let good = [
        ("client_id", id), ("client_secret", secret), ("grant_type", "client_credentials"),
      ]
      func refusal(_ form: [(String, String)], _ headers: [(name: String, value: String)] = [])
        async throws -> String?
      {
        try await client.post(
          token, form: form.map { (name: $0.0, value: $0.1) }, headers: headers
        ).refusal
      }
      #expect(try await refusal(good) == nil)
      for index in good.indices {
        var form = good
        form.remove(at: index)
        #expect(try await refusal(form) == "invalid_request")
        #expect(try await refusal(good + [good[index]]) == "invalid_request")
      }
      let query = "?client_id=\(id)&client_secret=\(secret)&grant_type=client_credentials"
      #expect(try await client.post(token + query).status == 200)
      #expect(
        try await refusal([good[0], good[1], ("grant_type", "refresh_token")])
          == "unsupported_grant_type")
      #expect(try await refusal([good[0], ("client_secret", "x"), good[2]]) == "invalid_client")
      #expect(
        try await refusal([("client_id", Random.uuid()), good[1], good[2]]) == "invalid_client")

      // HTTP Basic authentication (RFC 6749, section 2.3.1).
      let basic = (
        name: "Authorization", value: "Basic \(Base64.encode(Array("\(id):\(secret)".utf8)))"
      )
      #expect(try await refusal([good[2]], [basic]) == nil)
      #expect(try await refusal([good[0], good[2]], [basic]) == nil)
      #expect(try await refusal(good, [basic]) == "invalid_request")
      let wrong = (name: "Authorization", value: "Basic \(Base64.encode(Array("\(id):x".utf8)))")
      let answer = try await client.post(
        token, form: [(name: "grant_type", value: "client_credentials")], headers: [wrong])
      #expect(answer.status == 401)
      #expect(answer.refusal == nil)
      #expect(answer.text == #"{"error":"invalid_client"}"#)
      #expect(answer.header("www-authenticate") == "Basic realm=\"client\"")
    }
  }

  @Test func `a hundred boxes register at once, and the next one after a second`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      for _ in 0..<100 { _ = try await client.access(statement) }
      let late = try await client.register(statement)
      #expect(late.status == 429)
      #expect(late.header("retry-after") == "1")
      service.clock.pass(.seconds(1))
      #expect(try await client.register(statement).status == 201)
    }
  }

  @Test func `a source of wrong statements gets 429, while a valid statement from it is accepted`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      for _ in 0..<60 {
        #expect(try await client.register("x").refusal == "invalid_software_statement")
      }
      let answer = try await client.register("x")
      #expect(answer.status == 429)
      #expect(answer.header("retry-after") == "600")
      #expect(try answer.json().int64("status") == 429)
      // A web page could make a browser of the household send 60 wrong statements.
      #expect(try await client.register(statement).status == 201)
      service.clock.pass(.seconds(600))
      #expect(try await client.register("x").refusal == "invalid_software_statement")
    }
  }
}

// MARK: - Shorthands

func bearer(_ access: String) -> (name: String, value: String) {
  ("Authorization", "Bearer \(access)")
}

func jsonRequest(_ path: String, _ body: String) -> TestRequest {
  TestRequest(
    "POST", path, headers: [("Content-Type", "application/json;charset=utf-8")],
    body: Array(body.utf8))
}

extension TestResponse {
  /// The reason in the body of a 400.
  fileprivate var refusal: String? {
    guard status == 400 else { return nil }
    return (try? json())?["error"]?.string
  }
}

extension TestClient {
  func register(_ statement: String, redirect: String? = nil) async throws -> TestResponse {
    var body: JSONObject = ["software_statement": .string(statement)]
    if let redirect { body["redirect_uri"] = .string(redirect) }
    return try await send(jsonRequest("/o/client/register", body.description))
  }

  func token(_ id: String, _ secret: String) async throws -> TestResponse {
    try await post(
      "/o/client/token",
      form: [
        ("client_id", id), ("client_secret", secret), ("grant_type", "client_credentials"),
      ])
  }

  /// Registers and fetches an access token.
  func access(_ statement: String) async throws -> String {
    let record = try await register(statement).json()
    return try await token(
      try record.string("client_id"), try record.string("client_secret")
    ).json().string("access_token")
  }
}

extension TestService {
  private var application: ApplicationRecord {
    get throws {
      ApplicationRecord(
        id: try named("app-1"), requestor: try named(Sample.requestor), name: "Sample app",
        issued: core.clock.now)
    }
  }

  /// The statement of an application that an operator has just registered.
  func statement() async throws -> String {
    let application = try application
    _ = try await core.store.put(
      .application(application), replacing: nil, audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
    return try core.statements.issue(for: application, at: core.clock.now)
  }

  func revokeApplication() async throws {
    let id: StatementID = try named("app-1")
    let before = try #require(core.provisioning.now.records.applications[id])
    var after = before
    after.isRevoked = true
    _ = try await core.store.put(
      .application(after), replacing: .application(before), audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }
}
