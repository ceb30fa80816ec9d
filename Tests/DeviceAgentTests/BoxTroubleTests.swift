import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Launchers and trouble with the service` {
  @Test func `an unreachable service gives an error event, later the code, and exit code 6 when stopped before`()
    async throws
  {
    try await withTemporaryFolder { folder in
      let port = try freePort()
      let box = try Box(folder, "http://127.0.0.1:\(port)")
      let program = try box.start(["pair", "--json"])
      let event = try await box.event("error")
      #expect(event["code"]?.string == "unreachable")
      #expect(event["message"]?.string != nil && event["hint"]?.string != nil)
      let stopped = try box.start(["pair", "--json"], output: "stopped")
      _ = try await box.event("error", in: "stopped")
      stopped.signal(15)
      #expect(try await eventually("the end") { stopped.poll() } == 6)

      let service = try await BoxService(port: port)
      defer { service.stop() }
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { program.poll() } == 0)
      let names = try box.events().compactMap { $0["event"]?.string }
      #expect(names.first == "error" && names.last == "authenticated", "\(names)")
      #expect(names.count { $0 == "code" } == 1, "\(names)")
    }
  }

  @Test func `a key pair of another requestor is reported as a wrong requestor, but only to a client with its secret`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let other = try await box.run(["pair", "--requestor", "OTHER"])
      #expect(other.errorText.contains("the key pair belongs to another requestor"), "\(other.errorText)")
      #expect(other.errorText.contains("use the requestor that owns the key pair"), "\(other.errorText)")
      // A client without the secret must not learn which requestor the key pair belongs to.
      try writeFile("\(folder)/secret", "another secret".utf8)
      let stranger = try await box.run(["pair", "--requestor", "OTHER"])
      #expect(!stranger.errorText.contains("another requestor"), "\(stranger.errorText)")
      #expect(stranger.errorText.contains("check --public-key and --secret-file"), "\(stranger.errorText)")
    }
  }

  @Test func `a busy service is reported with its pause, and the same code stays valid`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let busy = Locked(false)
      let inner = try service.service.router()
      let port = try freePort()
      let gate = ClosureHandler { request in
        guard busy.withLock({ $0 }) else { return inner.handle(request) }
        var answer = Response(.tooManyRequests, type: "text/html", body: Array("<p>later".utf8))
        answer.addHeader(.retryAfter, "2")
        return .now(answer)
      }
      let server = try Server([Listener(.network(.loopback, port: port), handler: gate)])
      defer { server.stop(within: .milliseconds(100)) }
      let box = try Box(folder, "http://127.0.0.1:\(port)")
      let program = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      busy.withLock { $0 = true }
      // The change ends the long poll, so that the next call is refused.
      _ = try await service.open(wire)
      let event = try await box.event("error")
      #expect(event["code"]?.string == "busy")
      #expect(event["message"]?.string == "the service is busy")
      #expect(event["hint"]?.string == "try again in 2 s; the code stays valid")
      try await service.service.approve(wire)
      busy.withLock { $0 = false }
      #expect(try await eventually("the end") { program.poll() } == 0)
      #expect(try box.events().count { $0["event"]?.string == "code" } == 1)
    }
  }

  @Test func `regent pair requests only one code from an unresponsive service, however often it gets SIGUSR1`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let inner = try service.service.router()
      let held = Locked<[(Request, PendingReply)]?>([])
      let port = try freePort()
      let gate = ClosureHandler { request in
        guard request.method == .post,
          String(decoding: request.path, as: UTF8.self).hasSuffix("/regcode")
        else {
          return inner.handle(request)
        }
        return .later { pending in
          let isHeld = held.withLock { held in
            held?.append((request, pending))
            return held != nil
          }
          if !isHeld { complete(pending, inner.handle(request)) }
        }
      }
      let server = try Server([Listener(.network(.loopback, port: port), handler: gate)])
      defer { server.stop(within: .milliseconds(100)) }
      let box = try Box(folder, "http://127.0.0.1:\(port)")
      let program = try box.start(["pair", "--json", "--unattended"])
      func asked() -> Int { held.withLock { $0?.count ?? 0 } }
      try await eventually("the first question") { asked() > 0 }
      // The box would send a second request after this pause, if it sent one.
      for _ in 0..<2 {
        program.signal(10)
        try await pass(milliseconds: Int(PairModel.askingPause) + 200)
      }
      #expect(asked() == 1)
      // The last request arrives first, as can happen after a stall.
      let questions = held.withLock { held in
        defer { held = nil }
        return (held ?? []).reversed()
      }
      for (request, pending) in questions { complete(pending, inner.handle(request)) }
      let wire = try #require(try await box.event("code")["code"]?.string)
      // Time in which a second code would appear.
      try await pass(milliseconds: Int(PairModel.askingPause))
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { program.poll() } == 0)
      #expect(try box.events().compactMap { $0["event"]?.string }.count { $0 == "code" } == 1)
    }
  }

  @Test func `a code that the service withdrew before it was opened is replaced`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json"])
      let first = try await box.keptCode()
      try await service.withdraw(first)
      let wire = try #require(try await box.event("code", after: 1)["code"]?.string)
      #expect(wire != first)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { program.poll() } == 0)
      let names = try box.events().compactMap { $0["event"]?.string }
      #expect(names.allSatisfy { ["code", "opened", "authenticated"].contains($0) }, "\(names)")
    }
  }

  @Test func `an unknown key pair is reported, and the next signal after it was added gets a code`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url, more: ["REGENT_PUBLIC_KEY": "lateKey"])
      let program = try box.start(["pair", "--json", "--unattended"])
      #expect(try await box.event("error")["code"]?.string == "not-trusted")
      try await service.service.addKey("lateKey")
      program.signal(10)
      let wire = try #require(try await box.event("code")["code"]?.string)
      #expect(try box.events().compactMap { $0["event"]?.string } == ["error", "code"])
      try await service.service.approve(wire)
      _ = try await box.event("authenticated")
      #expect(try await eventually("the end") { program.poll() } == 0)
    }
  }

  @Test func `a store that cannot be written is reported, and the sign-in succeeds nevertheless`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json"])
      let wire = try await box.keptCode()
      // Acts like a full disk for every user: a folder in place of the file.
      removeTree("\(folder)/state/tokens")
      #expect(try run("mkdir", ["\(folder)/state/tokens"]).status == 0)
      try await service.service.approve(wire)
      _ = try await box.event("authenticated")
      #expect(try await eventually("the end") { program.poll() } == 0)
      let error = try #require(try box.events().first { $0["event"]?.string == "error" })
      #expect(error["code"]?.string == "storage")
      #expect(error["message"]?.string?.contains("tokens") == true)
    }
  }
}

@Suite struct `The name of a box` {
  @Test func `the phone shows the name that the owner gave the box, else its host name`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    let cases: [([String], String?)] = [(["--name", "Living room"], "Living room"), ([], nil)]
    for (arguments, expected) in cases {
      try await withTemporaryFolder { folder in
        let box = try Box(folder, service.url)
        let program = try box.start(["pair", "--json"] + arguments)
        let wire = try #require(try await box.event("code")["code"]?.string)
        let name = try service.nameOfBox(showing: wire)
        if let expected {
          #expect(name == expected)
        } else if let host = machineName(), host.prefix(9) != "localhost" {
          #expect(name.map { host.hasPrefix($0) } == true)
        }
        program.signal(15)
        _ = try await eventually("the end") { program.poll() }
      }
    }
  }
}

private func complete(_ pending: PendingReply, _ answer: Answer) {
  switch answer {
  case .now(let response): pending.complete(response)
  case .later(let begin): begin(pending)
  }
}
