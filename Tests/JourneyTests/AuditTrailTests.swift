import HTTPServer
import PairingStore
import RegentHTTPCodec
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `Audit lines that unauthenticated callers cause` {
  private func lines(_ service: TestService) async throws -> [String] {
    try await eventually("all audit lines are written") { service.core.audit.linesUnderWay == 0 }
    return try await service.core.store.audit(after: 0, limit: 100_000).map(\.entry.subject)
  }

  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  @Test func `a noisy address gets a bounded number of lines and displaces no lines of other addresses`() async throws {
    let service = try await TestService()
    let (noisy, quiet) = (try address("198.51.100.7"), try address("203.0.113.9"))
    for number in 0..<6000 {
      service.core.audit.note(.service, "session.start", "noise", .refused, onceFor: "\(number)", from: noisy)
    }
    // Two networks of 256 buckets may share a bucket by chance, so two of three are enough.
    for third in 113...115 {
      let other = third == 113 ? quiet : try address("203.0.\(third).9")
      service.core.audit.note(.service, "session.start", "quiet-\(third)", .refused, once: true, from: other)
    }
    let written = try await lines(service)
    #expect((1...64).contains(written.count { $0 == "noise" }))
    #expect(written.count { $0.hasPrefix("quiet-") } >= 2)
    // After a minute the noisy address may cause lines again.
    service.clock.pass(.seconds(61))
    service.core.audit.note(.service, "session.start", "later", .refused, once: true, from: noisy)
    #expect(try await lines(service).contains("later"))
  }

  @Test func `a failed sign-in is logged with its reason and the phone's address`() async throws {
    let service = try await TestService()
    let check = SignInCheck(service.core)
    let provider: ProviderID = try named(Sample.provider)
    _ = try await check.verify(Sample.account, "wrong", at: provider, from: try address("198.51.100.7"))
    _ = try await check.verify("stranger", "wrong", at: provider, from: try address("2001:db8::7"))
    try await eventually("all audit lines are written") { service.core.audit.linesUnderWay == 0 }
    let lines = try await service.core.store.audit(after: 0, limit: 1_000).map(\.entry).filter {
      $0.action == "session.start"
    }
    #expect(
      Set(lines.map { "\($0.subject): \($0.detail)" }) == [
        "\(Sample.provider)/\(Sample.account): wrong password from 198.51.100.7",
        "\(Sample.provider): unknown name from 2001:db8::7",
      ])
  }

  @Test func `an action of root names the user behind sudo, and only root may name one`() async throws {
    let service = try await TestService()
    let admin = try AdminSocket(service.core, ownUser: 1000)
    let user = Peer.local(Credentials(process: 1, user: 1000, group: 1000))
    for (id, peer, header) in [
      ("a", nil, "X-Regent-Invoker: anna\r\n"), ("b", user, "X-Regent-Invoker: anna\r\n"),
      ("c", nil, "X-Regent-Invoker: \(String(repeating: "x", count: 65))\r\n"), ("d", nil, ""),
    ] as [(String, Peer?, String)] {
      let root = Peer.local(Credentials(process: 1, user: 0, group: 0))
      let answer = try await admin.send("PUT", "/v1/requestors/\(id)", "{}", from: peer ?? root, headers: header)
      #expect(answer.status == 200, "\(answer.text)")
    }
    let lines = try await service.core.store.audit(after: 0, limit: 1_000).map(\.entry)
    func actor(_ id: String) -> String? {
      guard case .operator(let name)? = lines.first(where: { $0.action == "requestor.add" && $0.subject == id })?.actor
      else { return nil }
      return name.text
    }
    #expect(actor("a") == "root (anna)")
    #expect(actor("b")?.contains("anna") == false)
    #expect(actor("c") == "root" && actor("d") == "root")
  }

  @Test func `each app has its own budget of lines, and the lines above it are summed up with a count`()
    async throws
  {
    let service = try await TestService()
    let audit = service.core.audit
    let noisy = try #require(RequestorID("NOISY"))
    func isListed(_ number: Int, at requestor: RequestorID, from text: String) throws -> Bool {
      audit.strangerEntry(
        .service, "client.register", "client-\(number)", detail: "", at: requestor, from: try address(text)) != nil
    }
    // First one address sends everything, then each request comes from another address.
    let alone = try (0..<12_019).count { try isListed($0, at: noisy, from: "198.51.100.7") }
    #expect(alone == 100)
    let many = try (0..<12_019).count { try isListed($0, at: noisy, from: "10.\($0 / 250).\($0 % 250).1") }
    #expect((800...900).contains(many))
    // By chance one of the quiet apps may share a meter with the noisy one, but never all three.
    let quiet = try ["QUIET", "CALM", "STILL"].contains { name in
      try isListed(1, at: try #require(RequestorID(name)), from: "203.0.\(name.utf8.count).9")
    }
    #expect(quiet)
    // The line with the count is written after ten minutes, and only once.
    await audit.tellCounted()
    #expect(try await lines(service).isEmpty)
    service.clock.pass(.seconds(600))
    for _ in 0..<3 { await audit.tellCounted() }
    let told = try await service.core.store.audit(after: 0, limit: 10).map(\.entry)
    let line = try #require(told.first { $0.subject == "NOISY" })
    #expect(told.count { $0.subject == "NOISY" } == 1 && line.action == "client.register")
    #expect(
      line.detail == "\(24_038 - alone - many) more events of this kind within 600 seconds were counted and not listed")
    // The budget recovers by one line a minute.
    let later = try (0..<100).count { try isListed($0, at: noisy, from: "198.51.100.7") }
    #expect(later == 10)
    // A service that stops writes the counts that it has not yet reported.
    await Upkeep(service.core).keepEverything()
    #expect(try await service.core.store.audit(after: 0, limit: 10).contains { $0.entry.detail.hasPrefix("90 more") })
  }

  @Test func `a thousand apps are counted separately, and all further apps together`() throws {
    var budgets = AuditBudgets()
    for number in 0..<2000 {
      let requestor = try #require(RequestorID("A\(number)"))
      for _ in 0..<1001 { _ = budgets.take("client.set", at: requestor, from: nil, now: Uptime(milliseconds: 0)) }
    }
    #expect(budgets.counts.count == AuditBudgets.mostKinds + 1)
  }
}
