import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `From registration code to sign-in` {
  @Test(arguments: TestTransport.allCases)
  func `a code is pending, then approved, then delivered to the box`(transport: TestTransport) async throws {
    let service = try await TestService()
    try await transport.withClient(of: try service.router()) { client in
      let made = try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box-1&ttl=600&mvpd=local")
      #expect(made.status == 201)
      let record = try made.json()
      let code = try record.string("code")
      #expect(code.count == 8)
      #expect(try record.string("state") == "offered")
      #expect(try record.string("mvpd") == "local")
      #expect(
        try record.string("verificationURLComplete").hasPrefix("HTTPS://TV.EXAMPLE.ORG/D/\(code)."))
      #expect(made.header("cache-control") == "no-store")

      let authn = "/api/v1/tokens/authn?format=json&deviceId=box-1"
      let pending = try await service.call(client, "GET", authn)
      #expect(pending.status == 404)
      #expect(pending.text == #"{"status":404,"message":"Not Found","details":null}"#)
      let check = try await service.call(client, "GET", "/api/v1/checkauthn?deviceId=box-1")
      #expect(check.status == 403)
      #expect(
        check.text.hasSuffix("<error><status>403</status><message>Forbidden</message></error>"))

      let id = try await service.approve(code)
      let approved = try await service.call(client, "GET", "/reggie/v1/REF30/regcode/\(code).json")
      #expect(try approved.json().string("state") == "approved")
      let byCode = try await service.call(
        client, "GET", "/api/v1/checkauthn/\(code)?requestor=REF30&format=json")
      #expect(byCode.status == 200)
      #expect(service.core.codes.find(id)?.flow.state.status == .approved)

      let answer = try await service.call(client, "GET", authn)
      #expect(answer.status == 200)
      let token = try answer.json()
      #expect(try token.string("mvpd") == "local")
      #expect(try token.string("requestor") == "REF30")
      #expect(try byCode.json() == token)
      #expect(service.core.codes.find(id)?.flow.state.status == .delivered)
      #expect(try await service.call(client, "GET", authn).text == answer.text)

      let out = try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1")
      #expect(out.status == 204)
      #expect(out.body.isEmpty)
      #expect(try await service.call(client, "GET", authn).status == 404)
    }
  }

  @Test func `a sign-out of a signed-in box writes one audit line, and any other sign-out none`()
    async throws
  {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      #expect(try await box.send("DELETE", "/api/v1/logout").status == 204)
      try await box.signIn()
      for _ in 0..<2 { #expect(try await box.send("DELETE", "/api/v1/logout").status == 204) }
      // The line is written after the response.
      try await service.auditIsWritten()
      let lines = try await service.audit("device.sign-out")
      #expect(lines.map(\.actor) == [.device(try named(Sample.requestor))])
      #expect(lines.first?.detail == "\(Sample.provider)/\(Sample.account)")
      #expect(lines.first?.subject.utf8.count == 16, "the short name that device list prints")
      #expect(try await service.audit("device.sign-out").count == 1)
    }
  }

  @Test func `denied, expired, withdrawn and unknown codes have their own responses`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      func code(_ device: String) async throws -> String {
        try await service.call(
          client, "POST", "/reggie/v1/REF30/regcode.json?ttl=60&deviceId=\(device)"
        ).json().string("code")
      }
      func status(_ device: String) async throws -> (UInt16, String) {
        let answer = try await service.call(
          client, "GET", "/api/v1/tokens/authn.json?deviceId=\(device)")
        return (answer.status, answer.text)
      }
      try await service.deny(try await code("denied"))
      #expect(
        try await status("denied")
          == (403, #"{"status":403,"message":"Forbidden","details":"denied"}"#))
      let gone = try await code("gone")
      #expect(
        try await service.call(
          client, "DELETE", "/reggie/v1/REF30/regcode/\(gone)?deviceId=gone"
        ).status == 204)
      #expect(try await status("gone").0 == 404)
      #expect(
        try await service.call(client, "GET", "/reggie/v1/REF30/regcode/\(gone)").status == 404)
      _ = try await code("late")
      service.clock.pass(.seconds(61))
      #expect(
        try await status("late") == (410, #"{"status":410,"message":"Gone","details":"expired"}"#))
      #expect(try await status("denied").0 == 404)
      service.clock.pass(.seconds(600))
      #expect(try await status("late").0 == 404)
    }
  }

  @Test func `a long poll completes when the code is approved`() async throws {
    let service = try await TestService()
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      let made = try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box-1")
      let code = try made.json().string("code")
      async let held = service.call(
        client, "GET", "/api/v1/tokens/authn.json?deviceId=box-1",
        headers: [("Prefer", "wait=55")])
      try await eventually("the long poll is parked") { service.core.waiters.count == 1 }
      _ = try await service.approve(code)
      let answer = try await held
      #expect(answer.status == 200)
      #expect(answer.header("preference-applied") == "wait=55")
    }
  }
}

extension TestResponse {
  func json() throws -> JSONObject {
    try #require(JSONValue(reading: body, limits: JSONLimits(depth: 16, bytes: 1 << 20)).object)
  }
}
