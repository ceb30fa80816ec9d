import HTTPTestSupport
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Preauthorization` {
  private func withBox(
    enhanced: Bool = true, format: WireFormat = .json,
    _ body: (TestService, Box) async throws -> Void
  ) async throws {
    let service = try await serving { $0.enhancedErrors = enhanced }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      try await body(service, Box(service: service, client: client, format: format))
    }
  }

  @Test(arguments: [WireFormat.json, .xml])
  func `answers come in the order of the list, with the headers of the protocol`(format: WireFormat)
    async throws
  {
    try await withBox(format: format) { service, box in
      try await service.entitle("b", .deny(message: "buy <b>"))
      try await box.signIn()
      let answer = try await box.get("/api/v1/preauthorize", ["resource": "sports,b,, news ,b"])
      #expect(answer.status == 200)
      #expect(answer.items("resources").map { $0["id"] } == ["sports", "b", "news", "b"])
      #expect(answer.response.header("Adobe-Response-Confidence") == "full")
      let request = try #require(answer.response.header("Adobe-Request-Id"))
      #expect(request.utf8.count == 36)
      #expect(answer.response.header("Cache-Control") == "no-store")
      let error = answer.items("resources")[1].object("error")
      #expect(error["status"] == "403" && error["action"] == "none")
      #expect(error["code"] == "preauthorization_denied_by_mvpd")
      #expect(error["message"] == "User not authorized" && error["details"] == "buy <b>")
      #expect(error["trace"] == request)
      // Preauthorization creates no permit.
      let permit = try await box.get("/api/v1/tokens/authz", ["resource": "news"])
      #expect(permit.status == 404)
      #expect(service.core.metrics.now[.authorizationsDenied] == 0)
    }
  }

  @Test func `without enhanced errors a preauthorization has only ids and decisions`() async throws {
    try await withBox(enhanced: false) { _, box in
      try await box.signIn()
      let answer = try await box.get("/api/v1/preauthorize", ["resource": "news,x"])
      #expect(
        answer.text
          == #"{"resources":[{"id":"news","authorized":true},{"id":"x","authorized":false}]}"#)
    }
  }

  @Test(arguments: [
    ("a,b,c,d,e,f", 403, "too_many_resources"), ("", 400, "missing_resource"),
    (",,", 400, "missing_resource"), ("a\u{1}b", 400, "malformed_authz_request"),
  ])
  func `a list that is empty, malformed or too long is refused`(list: String, status: UInt16, code: String) async throws
  {
    try await withBox { _, box in
      try await box.signIn()
      let answer = try await box.get("/api/v1/preauthorize", ["resource": list])
      #expect(answer.status == status && answer["code"] == code, "\(answer.text)")
      #expect(!answer.has("resources"))
    }
  }

  @Test func `preauthorization without a valid sign-in is refused with 412`() async throws {
    try await withBox { service, box in
      func ask() async throws -> (UInt16, String?) {
        let answer = try await box.get("/api/v1/preauthorize", ["resource": "news"])
        return (answer.status, answer["code"])
      }
      let missing = "preauthorization_authentication_session_missing"
      #expect(try await ask() == (412, missing))
      try await box.signIn()
      try await service.account { $0.isDisabled = true }
      #expect(try await ask() == (412, missing))
      try await service.account { $0.isDisabled = false }
      service.clock.pass(.seconds(30 * 86_400))
      #expect(try await ask() == (412, "preauthorization_authentication_session_expired"))
    }
  }

  @Test func `a MediaRSS fragment is decided by its channel and rating`() async throws {
    try await withBox { _, box in
      try await box.signIn()
      func fragment(_ title: String, _ rating: String) -> String {
        "<rss><channel><title>\(title)</title><m:rating xmlns:m='http://search.yahoo.com/mrss/' "
          + "scheme='urn:mpaa'>\(rating)</m:rating></channel></rss>"
      }
      let asked = [fragment("News", "PG"), fragment("news", "R"), fragment("x", "PG"), "<rss>"]
      let answer = try await box.get(
        "/api/v1/preauthorize", ["resource": asked.joined(separator: ",")])
      let items = answer.items("resources")
      #expect(items.map { $0["id"] } == asked)
      #expect(items.map { $0["authorized"] } == ["true", "false", "false", "false"])
      #expect(
        items.map { $0.object("error")["code"] } == [
          nil, "authorization_denied_by_parental_controls", "preauthorization_denied_by_mvpd",
          "malformed_authz_request",
        ])
    }
  }

  // MARK: - The second screen

  @Test(arguments: [WireFormat.json, .xml])
  func `a second screen preauthorizes for the device of an approved code`(format: WireFormat) async throws {
    try await withBox(format: format) { service, box in
      let code = try await box.code()
      func ask(_ code: String) async throws -> Reply {
        try Reply(
          await service.call(
            box.client, "GET",
            "/api/v1/preauthorize/\(code).\(format.rawValue)?requestor=REF30&resource=news,x"))
      }
      let pending = try await ask(code)
      #expect(pending.status == 412)
      #expect(pending["code"] == "preauthorization_authentication_session_missing")
      let id = try await service.approve(code)
      let answer = try await ask(code)
      #expect(answer.items("resources").map { $0["authorized"] } == ["true", "false"])
      #expect(answer.response.header("Adobe-Response-Confidence") == "full")
      // This request does not count as the delivery to the box.
      #expect(service.core.codes.find(id)?.flow.state.status == .approved)
      try await service.account { $0.isDisabled = true }
      #expect(try await ask(code).status == 412)
      let check = try await service.call(
        box.client, "GET", "/api/v1/checkauthn/\(code)?requestor=REF30")
      #expect(check.status == 403)
      try await service.account { $0.isDisabled = false }
      #expect(try await ask(code).status == 200)
      _ = try await box.send("DELETE", "/api/v1/logout")
      #expect(try await ask(code).status == 412)
      let denied = try await box.code()
      try await service.deny(denied)
      #expect(try await ask(denied).status == 403)
    }
  }

  @Test func `a wrong code on the second screen counts as a guess`() async throws {
    try await withBox { service, box in
      let good = try await box.code()
      try await service.approve(good)
      for attempt in 1...5 {
        let answer = try await service.call(
          box.client, "GET",
          "/api/v1/preauthorize/BCDFGHJ\(["K", "L", "M", "N", "P"][attempt - 1])?resource=x")
        #expect(answer.status == 404)
      }
      #expect(service.core.metrics.now[.wrongCodes] == 5)
      let blocked = try await service.call(
        box.client, "GET", "/api/v1/preauthorize/\(good)?resource=news")
      #expect(blocked.status == 429)
      #expect(blocked.header("Retry-After") != nil)
    }
  }
}
