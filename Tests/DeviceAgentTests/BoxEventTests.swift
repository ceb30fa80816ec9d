import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Events of pair --json for a launcher` {
  @Test func `a launcher gets the events code, opened, match and authenticated, and exit code 0`() async throws {
    let service = try await BoxService { $0.numberMatching = true }
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json"])
      let code = try await box.event("code")
      let wire = try #require(code["code"]?.string)
      #expect(
        Set(code.members.map(\.name)) == ["event", "code", "display", "url", "address", "expires"])
      #expect(code["url"]?.string?.hasPrefix("HTTP://127.0.0.1:\(service.port)/D/\(wire).") == true)
      #expect(code["display"]?.string == "\(wire.prefix(4))-\(wire.suffix(4))")
      #expect(code["expires"]?.int64 != nil)

      let number = try #require(try await service.open(wire))
      #expect(try await box.event("opened").count == 1)
      #expect(try await box.event("match")["number"]?.int64 == Int64(number))

      try await service.service.approve(wire)
      let end = try await box.event("authenticated")
      #expect(end["provider"]?.string == "Sample TV")
      #expect(try await eventually("the end") { program.poll() } == 0)
      #expect(
        try box.events().map { $0["event"]?.string } == [
          "code", "opened", "match", "authenticated",
        ])
      #expect(box.printed("out.err").isEmpty)

      let status = try await box.run(["status", "--json"])
      #expect(status.status == 0)
      let document = try JSONValue(reading: status.output)
      #expect(document["signedIn"]?.bool == true)
      #expect(document["provider"]?.string == "local")
      #expect(try await box.run(["logout"]).status == 0)
      #expect(try await box.run(["status"]).status == 3)
    }
  }

  @Test func `the documentation page box-programs lists exactly the events of pair --json`() throws {
    let failure = AgentFailure(
      code: "unreachable", message: "the service cannot be reached", hint: "check the network",
      trouble: .service)
    let events: [PairEvent] = [
      .code(Scene.code()), .opened, .match(42),
      .authenticated(name: "demo", provider: "Example One"), .denied, .expired, .error(failure),
    ]
    let page = String(decoding: try readFile("\(packageFolder())/docs/box-programs.md"), as: UTF8.self)
    let documented = page.split(separator: "\n").filter { $0.hasPrefix("{\"event\"") }.map(
      String.init)
    #expect(documented == events.map { String(decoding: $0.document.bytes(), as: UTF8.self) })
  }

  @Test func `a launcher gets the event denied and exit code 4 when the viewer denies`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.deny(wire)
      _ = try await box.event("denied")
      #expect(try await eventually("the end") { program.poll() } == 4)
    }
  }

  @Test func `a box shows no verification URL of another host unless it is configured`() async throws {
    let service = try await BoxService(publicURL: "https://evil.example.com")
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let end = try await box.run(["pair", "--json"])
      #expect(end.status == 1)
      #expect(try JSONValue(reading: end.output)["code"]?.string == "foreign-address")
      #expect(!end.outputText.lowercased().contains("evil"))

      let allowed = try Box(
        folder, service.url, more: ["REGENT_PUBLIC_HOST": "evil.example.com"])
      let program = try allowed.start(["pair", "--json"])
      #expect(
        try await allowed.event("code")["url"]?.string?.hasPrefix("HTTPS://EVIL.EXAMPLE.COM/D/")
          == true)
      program.signal(15)
      #expect(try await eventually("the end") { program.poll() } == 3)
    }
  }

  @Test func `two boxes pairing at once get separate codes and separate answers`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { first in
      try await withTemporaryFolder { second in
        let boxes = [try Box(first, service.url), try Box(second, service.url)]
        let programs = try boxes.map { try $0.start(["pair", "--json"]) }
        let codes = try await [
          boxes[0].event("code")["code"]?.string ?? "",
          boxes[1].event("code")["code"]?.string ?? "",
        ]
        #expect(codes[0] != codes[1])
        try await service.service.approve(codes[1])
        #expect(try await eventually("the second") { programs[1].poll() } == 0)
        #expect(programs[0].poll() == nil)
        try await service.service.deny(codes[0])
        #expect(try await eventually("the first") { programs[0].poll() } == 4)
      }
    }
  }

  @Test func `two pairing programs of one box show the same code and both end signed in`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let pair = ["pair", "--json", "--unattended"]
      let first = try box.start(pair, output: "first")
      let wire = try #require(try await box.event("code", in: "first")["code"]?.string)
      try await eventually("the code on disk") { try box.keeps(wire) }
      let second = try box.start(pair, output: "second")
      #expect(try await box.event("code", in: "second")["code"]?.string == wire)
      // The second program gets another code, which replaces the code of the first.
      second.signal(10)
      let other = try await eventually("the same other code on both", within: 3 * patience) { () -> String? in
        let codes = try ["first", "second"].map { output in
          try box.events(output).last { $0["event"]?.string == "code" }?["code"]?.string
        }
        guard let code = codes[0], code == codes[1], code != wire else { return nil }
        return code
      }
      try await service.service.approve(other)
      // The two cancel each other's long polls, so that they poll every few seconds instead.
      #expect(try await eventually("the first", within: 3 * patience) { first.poll() } == 0)
      #expect(try await eventually("the second", within: 3 * patience) { second.poll() } == 0)
    }
  }

  @Test func `after a kill the same code is shown again and can be approved`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let killed = try box.start(["pair", "--json"])
      let wire = try await box.keptCode()
      killed.signal(9)
      _ = try await eventually("the end") { killed.poll() }
      let again = try box.start(["pair", "--json"], output: "again")
      #expect(try await box.event("code", in: "again")["code"]?.string == wire)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { again.poll() } == 0)
    }
  }

  @Test func `SIGUSR1 makes the box show another code and withdraws the first`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json", "--unattended"])
      let first = try #require(try await box.event("code")["code"]?.string)
      program.signal(10)
      let second = try #require(try await box.event("code", after: 1)["code"]?.string)
      #expect(first != second)
      #expect(try service.isWithdrawn(first))
      program.signal(15)
      #expect(try await eventually("the end") { program.poll() } == 3)
    }
  }

  @Test func `pair --qr png writes the QR code to a file and removes it at the end`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json", "--qr", "png", "\(folder)/code.png"])
      let link = try #require(try await box.event("code")["url"]?.string)
      let png = try await eventually("the picture") { try? readFile("\(folder)/code.png") }
      #expect(try decode(png) == link)
      program.signal(15)
      _ = try await eventually("the end") { program.poll() }
      #expect(throws: (any Error).self) { try readFile("\(folder)/code.png") }
    }
  }

  @Test func `a closed pipe ends the program, and the next start shows the same code`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      #expect(try run("mkfifo", ["\(folder)/pipe"]).status == 0)
      // O_NONBLOCK: does not wait for the writing end, which is opened next.
      let reader = try FileDescriptor.open("\(folder)/pipe", 0o4000)
      let program = try box.start(["pair", "--json"], output: "pipe")
      let line = try await eventually("the code") {
        (try? reader.read(atMost: 4_096)).flatMap { $0.isEmpty ? nil : $0 }
      }
      let wire = try #require(try JSONValue(reading: line)["code"]?.string)
      try await eventually("the code on disk") { try box.keeps(wire) }
      try reader.close()
      #expect(try await eventually("the end") { program.poll() } == 1)
      let again = try box.start(["pair", "--json"], output: "again")
      #expect(try await box.event("code", in: "again")["code"]?.string == wire)
      again.signal(15)
      #expect(try await eventually("the end") { again.poll() } == 3)
    }
  }

  @Test func `doctor does not take a captive portal's page for the service`()
    async throws
  {
    let port = try freePort()
    let page = Response(.ok, type: "text/html", body: Array("<html>Welcome</html>".utf8))
    let server = try Server(
      [Listener(.network(.loopback, port: port), handler: ClosureHandler { _ in .now(page) })])
    defer { server.stop(within: .milliseconds(100)) }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, "http://127.0.0.1:\(port)")
      let findings = try await box.run(["doctor"])
      #expect(findings.status == 1)
      #expect(findings.outputText.contains("BAD   reach 127.0.0.1"))
      #expect(findings.outputText.contains("sign-in page"))
    }
  }

  @Test func `pair without --json prints sentences in the chosen language`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url, more: ["REGENT_LANGUAGE": "it"])
      let program = try box.start(["pair"])
      try await eventually("the code") { box.printed().contains("/D/") }
      #expect(box.printed().hasPrefix("Codice "))
      // Only the QR code has the link in capitals.
      #expect(box.printed().contains(" http://127.0.0.1:\(service.port)/D/"))
      program.signal(2)
      #expect(try await eventually("the end") { program.poll() } == 3)
    }
  }
}
