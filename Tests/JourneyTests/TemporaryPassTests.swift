import RegentCryptography
import HTTPTestSupport
import RegentEncodings
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Temporary passes` {
  private func withBox(
    enhanced: Bool = true, format: WireFormat = .json,
    _ body: (TestService, Box) async throws -> Void
  ) async throws {
    let service = try await serving { $0.enhancedErrors = enhanced }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      try await body(service, Box(service: service, client: client, format: format))
    }
  }

  @Test func `one address starts a limited number of passes, and resuming one is free`()
    async throws
  {
    try await withBox { service, box in
      func begin(_ device: Int) async throws -> Int {
        var other = box
        other.device = "made-up-\(device)"
        return Int(try await other.preview(Sample.pass).status)
      }
      for device in 1...500 {
        let status = try await begin(device)
        #expect(status == 204)
      }
      #expect(try await begin(501) == 429)
      // A device that already has a pass is not counted.
      #expect(try await begin(1) == 204)
      service.clock.pass(.seconds(1))
      #expect(try await begin(501) == 204)
      #expect(try await begin(502) == 429)
    }
  }

  @Test(arguments: Telling.all)
  func `a temporary pass signs a device in, allows every title and ends after its time`(telling: Telling) async throws {
    try await telling.run { box in
      let service = box.service
      let begun = try await box.preview(Sample.pass)
      #expect(begun.status == 204 && begun.text.isEmpty)
      let signedIn = try await box.get("/api/v1/tokens/authn")
      #expect(signedIn.status == 200 && signedIn["mvpd"] == Sample.pass)
      #expect(signedIn["userId"]?.hasPrefix("temppass_") == true)
      #expect(try await box.preauthorize("a,b") == ["a": "true", "b": "true"])
      // The time starts with the first authorization.
      service.clock.pass(.seconds(300))
      let end = String((service.clock.now + .seconds(600)).milliseconds)
      #expect(try await box.authorize("a")["expires"] == end)
      service.clock.pass(.seconds(599))
      #expect(try await box.authorize("b")["expires"] == end)
      #expect(try await box.media("b").status == 200)
      // Repeating the call, or signing out and in again, does not extend the pass.
      #expect(try await box.preview(Sample.pass).status == 204)
      #expect(try await box.authorize("a")["expires"] == end)
      #expect(try await box.send("DELETE", "/api/v1/logout").status == 204)
      #expect(try await box.preview(Sample.pass).status == 204)
      #expect(try await box.authorize("a")["expires"] == end)
      service.clock.pass(.seconds(1))
      let over = try await box.authorize("a")
      #expect(over.status == 403 && over["message"] == "User not authorized")
      #expect(over["details"] == "the temporary pass has run out: sign in with an account")
      #expect(
        over["code"] == (telling.enhanced ? "temporary_access_duration_limit_exceeded" : nil))
      #expect(try await box.media("b").status == 403)
      let again = try await box.preview(Sample.pass)
      #expect(again.status == 403 && again["details"] == over["details"])
      #expect(try await box.get("/api/v1/tokens/authz", ["resource": "a"]).status == 412)
      // A reset by an operator starts the pass anew.
      try await service.core.store.resetTemporaryPasses(
        requestor: try named(Sample.requestor), provider: try named(Sample.pass), .all, audit: nil,
        at: service.clock.now)
      #expect(try await box.preview(Sample.pass).status == 204)
      #expect(try await box.authorize("a").status == 200)
    }
  }

  @Test func `a long title that a pass has opened is marked as open when the pass opens no further title`()
    async throws
  {
    try await withBox { (_: TestService, box: Box) async throws in
      #expect(try await box.preview(Sample.promotion, ["generic_data": "me"]).status == 204)
      let long = String(repeating: "x", count: 2_000)
      #expect(try await box.authorize(long).status == 200)
      #expect(try await box.authorize("b").status == 200)
      #expect(try await box.preauthorize("\(long),b,c") == [long: "true", "b": "true", "c": "false"])
      #expect(try await box.authorize(long).status == 200)
      #expect(try await box.authorize("c").status == 403)
    }
  }

  @Test func `concurrent first authorizations start the time of a pass once`() async throws {
    try await withBox { service, box in
      #expect(try await box.preview(Sample.pass).status == 204)
      let ends = try await withThrowingTaskGroup(of: String?.self) { group in
        for number in 0..<16 {
          group.addTask { try await box.authorize("title-\(number)")["expires"] }
        }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      #expect(ends == [String((service.clock.now + .seconds(600)).milliseconds)])
    }
  }

  @Test func `a promotional pass counts titles for the device and for the identity`() async throws {
    try await withBox { service, box in
      let asked = try await box.preview(Sample.promotion)
      #expect(asked.status == 400)
      #expect(asked["details"] == "this temporary pass needs the viewer's identity")
      let me: KeyValuePairs = ["generic_data": #"{"email":"ABCD"}"#]
      #expect(try await box.preview(Sample.promotion, me).status == 204)
      #expect(try await box.authorize("a").status == 200)
      #expect(try await box.authorize("b").status == 200)
      #expect(try await box.authorize("a").status == 200)
      let over = try await box.authorize("c")
      #expect(over.status == 403)
      #expect(over["code"] == "temporary_access_resources_limit_exceeded")
      #expect(try await box.preauthorize("a,b,c") == ["a": "true", "b": "true", "c": "false"])
      #expect(try await box.media("a").status == 200)
      #expect(try await box.media("c").status == 403)

      // The same identity on another device, or another identity on the same device, has the same pass.
      var other = box
      other.device = "box-2"
      #expect(
        try await other.preview(Sample.promotion, ["generic_data": #"("email":"abcd")"#]).status
          == 204)
      #expect(try await other.authorize("c").status == 403)
      #expect(try await box.preview(Sample.promotion, ["generic_data": "another"]).status == 204)
      #expect(try await box.authorize("c").status == 403)
      // A new device with a new identity gets a new pass.
      var third = box
      third.device = "box-3"
      #expect(try await third.preview(Sample.promotion, ["generic_data": "third"]).status == 204)
      #expect(try await third.authorize("c").status == 200)

      let data = try await third.get("/api/v1/tokens/usermetadata").object("data")
      #expect(data["remaining_resources"] == "1" && data.texts("used_assets") == ["c"])
      #expect(
        data["expiration_date"] == String((service.clock.now + .seconds(3600)).milliseconds))
      #expect(data["tokenSource"] == "temporary" && data["mvpd"] == Sample.promotion)
      #expect(!data.has("zip") && !data.has("householdID"))
    }
  }

  @Test func `the identity can be sent in the header AP-TempPass-Identity`() async throws {
    try await withBox { service, box in
      func preview(_ device: String, _ header: String) async throws -> UInt16 {
        try await service.call(
          box.client, "POST",
          "/api/v1/authenticate/freepreview?deviceId=\(device)&requestor_id=REF30"
            + "&mso_id=promotion&domain_name=example.com",
          headers: [("AP-TempPass-Identity", header)]
        ).status
      }
      let header = Base64.encode(Array(#"{"email":"abcd"}"#.utf8))
      let first = try await preview("box-1", header)
      #expect(first == 204)
      #expect(try await box.authorize("a").status == 200)
      #expect(try await box.authorize("b").status == 200)
      var other = box
      other.device = "box-2"
      #expect(try await other.preview(Sample.promotion, ["generic_data": "ABCD"]).status == 204)
      #expect(try await other.authorize("c").status == 403)
      #expect(try await preview("box-3", "%%%") == 400)
      #expect(try await preview("box-3", Base64.encode([0xFF])) == 400)
    }
  }

  @Test(arguments: [
    "requestor_id=REF30&mso_id=pass&domain_name=example.com",
    "deviceId=box-1&requestor_id=REF30&domain_name=example.com",
    "deviceId=box-1&requestor_id=REF30&mso_id=pass",
    "deviceId=box-1&requestor_id=REF30&mso_id=pass&domain_name=evil.example",
    "deviceId=box-1&requestor_id=REF30&mso_id=nobody&domain_name=example.com",
    "deviceId=box-1&requestor_id=REF30&mso_id=local&domain_name=example.com",
    "deviceId=box-1&requestor_id=other&mso_id=pass&domain_name=example.com",
    "deviceId=box-1&requestor_id=REF30&mso_id=pass&mso_id=pass&domain_name=example.com",
  ])
  func `a pass request with a missing or wrong parameter is refused`(query: String) async throws {
    try await withBox(enhanced: false) { service, box in
      let answer = try await service.call(
        box.client, "POST", "/api/v1/authenticate/freepreview.json?\(query)")
      #expect(answer.status == 400, "\(answer.text)")
      #expect(answer.text.hasPrefix(#"{"status":400,"message":""#))
      #expect(try await box.get("/api/v1/tokens/authn").status == 404)
    }
  }

  @Test func `pass parameters can be sent as a form`() async throws {
    try await withBox { service, box in
      let path = "/api/v1/authenticate/freepreview"
      let answer = try await box.client.post(
        path,
        form: [
          ("deviceId", "box-1"), ("requestor_id", "REF30"), ("mso_id", "pass"),
          ("domain_name", "example.com"),
        ], headers: [try service.signature("POST", path)])
      #expect(answer.status == 204)
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
    }
  }

  @Test func `disabling a pass ends it for devices that use it`() async throws {
    try await withBox { service, box in
      #expect(try await box.preview(Sample.pass).status == 204)
      #expect(try await box.authorize("a").status == 200)
      try await service.integrate(Sample.pass) { $0.degradation = .authorizeNobody }
      #expect(try await box.authorize("a").status == 403)
      #expect(try await box.media("a").status == 403)
      try await service.integrate(Sample.pass) {
        $0.degradation = nil
        $0.enabled = false
      }
      #expect(try await box.authorize("a").status == 403)
      #expect(try await box.preview(Sample.pass).status == 400)
    }
  }

  @Test(arguments: [
    (#"{"email":"X"}"#, "x"), (#"("email":"X")"#, "x"), (" X ", "x"), ("X", "x"),
    (#"{"email":" X "}"#, "x"), (#"{"b":"2","a":"1"}"#, "a=1&b=2"), ("{", "{"), ("()", "()"),
    (#"{"email":7}"#, #"{"email":7}"#), ("è", "è"),
  ])
  func `each form of an identity is reduced to the same text`(given: String, text: String) {
    #expect(PassIdentity(given)?.text == text)
    #expect(PassIdentity(header: Base64.encode(Array(given.utf8)))?.text == text)
  }

  @Test func `an identity must have between 1 and 1024 bytes`() {
    #expect(PassIdentity(String(repeating: "x", count: 1024)) != nil)
    #expect(PassIdentity(String(repeating: "x", count: 1025)) == nil)
    #expect(PassIdentity("  ") == nil && PassIdentity(#"{"email":" "}"#) == nil)
  }
}
