import PairingStore
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// A full audit log drops the lines that attackers can cause at will before those of operators and accounts.
@Suite struct `Audit lines that an attacker can cause at will` {
  /// Each action that a device or the service writes a line for, and whether a full log drops the line first.
  ///
  /// The lines of the service are refusals about a subject that is no account.
  private static let expected: [String: Bool] = [
    "device device.refuse": true, "device device.sign-in": true, "device device.sign-out": true,
    "device device.visitor": true, "device platform.decide": true, "device platform.enrol": true,
    "device platform.refuse": true,
    "service admin.refused": false, "service audit.broken": false, "service box.enrol": true,
    "service client.refused": true, "service client.register": true, "service client.remove": true,
    "service client.set": true, "service device.sign-out": false, "service grant.end": true,
    "service row.tampered": false, "service session.start": true, "service session.throttle": true,
  ]

  private func line(_ actor: AuditEntry.Actor, _ action: String, _ subject: String = "x") -> AuditEntry {
    AuditEntry(at: Instant(milliseconds: 0), actor: actor, action: action, subject: subject, outcome: .refused)
  }

  @Test func `every action of devices and of the service is classified`() throws {
    let listed = try run(
      "grep",
      [
        "-rlE", "--include=*.swift", "[.](service|device)\\b", packageFolder() + "/Sources/PairingService",
        packageFolder() + "/Sources/PairingStoreRows", packageFolder() + "/Sources/regentd",
      ])
    let actor = /\.(service|device)(?:\([^()]*\))?,\s*(?:action:\s*)?"([a-z]+\.[a-z-]+)"/
    var found: Set<String> = []
    for path in listed.outputText.split(separator: "\n") {
      let text = String(decoding: try readFile(String(path)), as: UTF8.self)
      for match in text.matches(of: actor) { found.insert("\(match.1) \(match.2)") }
    }
    #expect(found == Set(Self.expected.keys))
    let requestor: RequestorID = try named("DEMO")
    for (action, isOfStranger) in Self.expected {
      let parts = action.split(separator: " ").map(String.init)
      let actor: AuditEntry.Actor = parts[0] == "device" ? .device(requestor) : .service
      #expect(line(actor, parts[1]).isOfStranger == isOfStranger, "\(action)")
    }
  }

  @Test func `lines of guests are dropped first, and those of accounts are not`() throws {
    let provider: ProviderID = try named(Sample.provider)
    for action in ["session.start", "session.end", "code.approve", "code.deny", "authorization.deny"] {
      #expect(line(.viewer(Viewer(provider: provider, account: nil)), action).isOfStranger, "\(action)")
      let account: AccountName = try named(Sample.account)
      #expect(!line(.viewer(Viewer(provider: provider, account: account)), action).isOfStranger, "\(action)")
    }
    #expect(!line(.service, "session.start", "cable/anna").isOfStranger)
  }

  @Test func `a browser that becomes a guest again and again causes a hundred lines, and the rest are counted`()
    async throws
  {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(try await newCode(service, client))")
      try await phone.send("open")
      for _ in 0..<130 {
        try await phone.send("provider", ["provider": Sample.pass])
        try await phone.send("release")
      }
    }
    try await eventually("all audit lines are written") { service.core.audit.linesUnderWay == 0 }
    let lines = try await service.audit("session.start").count
    #expect((1...100).contains(lines))
    await service.core.audit.tellCounted(all: true)
    let told = try await service.audit("session.start").last
    #expect(told?.detail.hasPrefix("\(130 - lines) more events of this kind") == true)
  }
}
