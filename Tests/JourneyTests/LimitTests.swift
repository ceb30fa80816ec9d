import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Rate limits` {
  @Test func `a device that polls too often gets 429 with Retry-After`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let poll = "/api/v1/checkauthn.json?deviceId=box-1"
      for _ in 0..<100 { #expect(try await service.call(client, "GET", poll).status == 403) }
      let answer = try await service.call(client, "GET", poll)
      #expect(answer.status == 429)
      #expect(answer.header("retry-after") == "1")
      #expect(answer.text == #"{"status":429,"message":"Too Many Requests","details":null}"#)
      let markup = try await service.call(client, "GET", "/api/v1/checkauthn?deviceId=box-1")
      #expect(markup.text.contains("<error><status>429</status>"))
      #expect(
        try await service.call(client, "GET", "/api/v1/checkauthn.json?deviceId=box-2").status
          == 403)
      service.clock.pass(.seconds(1))
      for _ in 0..<20 { #expect(try await service.call(client, "GET", poll).status == 403) }
      #expect(try await service.call(client, "GET", poll).status == 429)
    }
  }

  @Test(arguments: ["wait=0", "wait=55", "wait=x"])
  func `the Prefer header does not bypass the rate limit`(prefer: String) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      var last: UInt16 = 0
      for _ in 0..<101 {
        last = try await service.call(
          client, "GET", "/api/v1/tokens/authn?deviceId=box-1", headers: [("Prefer", prefer)]
        ).status
      }
      #expect(last == 429)
    }
  }

  @Test func `polls by code count against the limit of the code`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      for _ in 0..<100 {
        #expect(try await service.call(client, "GET", "/api/v1/authenticate/\(code)").status == 404)
      }
      #expect(try await service.call(client, "GET", "/api/v1/authenticate/\(code)").status == 429)
    }
  }

  @Test func `parked long polls do not count as polls`() async throws {
    let service = try await TestService(usesMachineClock: true)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      _ = try await service.code(client)
      let wait = "/api/v1/tokens/authn?deviceId=box-1"
      try await withThrowingTaskGroup(of: UInt16.self) { group in
        for _ in 0..<150 {
          group.addTask {
            try await service.call(client, "GET", wait, headers: [("Prefer", "wait=55")]).status
          }
        }
        // Each new long poll displaces the one before it, which gets the pending response.
        for _ in 0..<149 {
          let status = try await group.next()
          #expect(status == 404)
        }
        #expect(service.core.waiters.count == 1)
        let poll = try await service.call(client, "GET", wait).status
        #expect(poll == 404)
        service.core.waiters.stop()
        let last = try await group.next()
        #expect(last == 404)
      }
    }
  }

  @Test(arguments: [
    "/reggie/v1/REF30/regcode/", "/api/v1/checkauthn/", "/api/v1/authenticate/",
    "/api/v1/checkauthn/short",
  ])
  func `after five wrong codes an address cannot look up codes for ten minutes`(path: String) async throws {
    let service = try await TestService()
    let router = try service.router()
    let guesser = InProcessClient(router, peer: .network(try address("198.51.100.1"), port: 1))
    let viewer = InProcessClient(router, peer: .network(try address("198.51.100.2"), port: 1))
    let code = try await service.code(viewer)
    let right = "/reggie/v1/REF30/regcode/\(code)"
    for number in 0..<5 {
      let wrong = path + (path.hasSuffix("short") ? "\(number)" : try guess(number))
      let status = try await service.call(guesser, "GET", wrong).status
      #expect(status == (path.contains("checkauthn") ? 403 : 404))
    }
    let last = path.hasSuffix("/") ? path + code : right
    for refused in [right, last, "\(right)?deviceId=box-2"] {
      let blocked = try await service.call(guesser, "GET", refused)
      #expect(blocked.status == 429)
      #expect(blocked.header("retry-after") == "600")
    }
    #expect(try await service.call(viewer, "GET", right).status == 200)
    // A device can still poll for itself, also by its code.
    for own in [
      "/api/v1/tokens/authn?deviceId=box-1", "/api/v1/authenticate/\(code)?deviceId=box-1",
    ] {
      #expect(try await service.call(guesser, "GET", own).status == 404)
    }
    #expect(try await service.call(guesser, "GET", "\(right)?deviceId=box-1").status == 200)
    service.clock.pass(.seconds(600))
    #expect(try await service.call(guesser, "GET", right).status == 200)
  }

  @Test func `one IPv6 /64 is one source, and a right code does not reset its count of guesses`() async throws {
    let service = try await TestService()
    let router = try service.router()
    let viewer = InProcessClient(router, peer: .network(.loopback, port: 1))
    let right = "/reggie/v1/REF30/regcode/\(try await service.code(viewer))"
    for last in 1...5 {
      let guesser = InProcessClient(
        router, peer: .network(try address("2001:db8:0:1::\(last)"), port: 1))
      #expect(try await service.call(guesser, "GET", right).status == 200)
      let wrong = "/reggie/v1/REF30/regcode/\(try guess(last))"
      #expect(try await service.call(guesser, "GET", wrong).status == 404)
    }
    let sixth = InProcessClient(
      router, peer: .network(try address("2001:db8:0:1:ffff::9"), port: 1))
    #expect(try await service.call(sixth, "GET", right).status == 429)
    let other = InProcessClient(router, peer: .network(try address("2001:db8:0:2::1"), port: 1))
    #expect(try await service.call(other, "GET", right).status == 200)
  }

  @Test func `polling one dead code many times counts as one guess`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      for dead in [try guess(0), try guess(1)] {
        for _ in 0..<50 {
          let poll = "/api/v1/authenticate/\(dead)"
          #expect(try await service.call(client, "GET", poll).status == 404)
        }
      }
      #expect(service.core.metrics.now[.wrongCodes] == 2)
      // Another client at the same address, which names no device, is still served.
      #expect(try await service.call(client, "GET", "/api/v1/authenticate/\(code)").status == 404)
      #expect(
        try await service.call(client, "GET", "/reggie/v1/REF30/regcode/\(code)").status == 200)
    }
  }

  @Test func `at the limit of live codes a new device gets 503 until a code expires`() async throws {
    let service = try await TestService(options: { $0.limits.liveCodes = 2 })
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      _ = try await service.code(client, "a")
      let second = try await service.code(client, "b")
      // A new code for the same device replaces its old one.
      let third = try await service.code(client, "b")
      #expect(second != third)
      let full = try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=c")
      #expect(full.status == 503)
      #expect(full.header("retry-after") == "30")
      #expect(service.core.codes.pending == 2)
      service.clock.pass(.seconds(1801))
      #expect(
        try await service.call(client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=c").status
          == 201)
    }
  }
}

/// A code that belongs, almost certainly, to no device.
func guess(_ number: Int) throws -> String {
  try #require(RegistrationCode(ordinal: UInt64(number))).wire
}

func address(_ text: String) throws -> IPAddress {
  try #require(IPAddress(text))
}

extension TestService {
  /// Requests a new code for a device.
  func code(_ client: any TestClient, _ device: String = "box-1", _ more: String = "") async throws
    -> String
  {
    try await call(
      client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=\(device)\(more)"
    ).json().string("code")
  }
}
