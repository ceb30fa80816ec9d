import HTTPTestSupport
import PairingStore
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// A viewer can send forms at any rate, and a full audit log loses its oldest lines.
@Suite struct `Audit lines that viewers cause` {
  private func signedIn(_ service: TestService, _ client: any TestClient) async throws -> PhoneBrowser {
    var phone = PhoneBrowser(client)
    try await phone.reachApproval(try await newCode(service, client, device: "one"))
    try await phone.send("approve")
    try await phone.open("/screens")
    return phone
  }

  private func screen(_ phone: PhoneBrowser) throws -> String {
    let address = try #require(addresses(in: phone.page.text).first { $0.hasSuffix("/rename") })
    return String(address.dropLast("/rename".count))
  }

  private func formToken(_ phone: inout PhoneBrowser, _ screen: String) async throws -> String {
    try await phone.open(screen + "/rename")
    return phone.formToken
  }

  @Test func `only a form that changes something writes an audit line`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = try await signedIn(service, client)
      let screen = try screen(phone)
      let token = try await formToken(&phone, screen)
      for name in ["Hall", "Hall", "Hall", "Attic"] {
        try await phone.post(screen + "/rename", ["csrf": token, "name": name])
      }
      #expect(try await service.audit("device.name").count == 2)
      for _ in 0..<3 { try await phone.post("/screens/sign-out", ["csrf": token]) }
      #expect(try await service.audit("device.sign-out").map(\.subject) == ["all"])
    }
  }

  @Test func `the audit lines of a viewer have a rate limit that does not affect other viewers`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      var phone = try await signedIn(service, client)
      let screen = try screen(phone)
      let token = try await formToken(&phone, screen)
      let before = try await service.audit("code.approve").count
      var statuses: [UInt16: Int] = [:]
      for number in 0..<120 {
        let answer = try await phone.post(screen + "/rename", ["csrf": token, "name": "Name \(number)"])
        statuses[answer.status, default: 0] += 1
      }
      #expect(before == 1)
      #expect(try await service.audit("device.name").count == 99)
      #expect(statuses[429] == 21)
      // Other actions that need an audit line are refused, too, until the limit allows one.
      let code = try await newCode(service, client, device: "two")
      try await phone.reachApproval(code)
      try await phone.send("approve")
      #expect(phone.page.status == 429)
      var other = PhoneBrowser(client)
      try await other.signIn("second")
      try await other.reachApproval(try await newCode(service, client, device: "three"))
      try await other.send("deny")
      #expect(try await service.audit("code.deny").count == 1)
      service.clock.pass(.seconds(1))
      try await phone.open("/D/\(code)/approve")
      try await phone.send("approve")
      #expect(try await service.audit("code.approve").count == 2)
      // Signing out all screens works without a line left.
      try await phone.open("/screens/sign-out")
      try await phone.send("/screens/sign-out")
      #expect(try await service.audit("device.sign-out").count == 1)
    }
  }

  @Test func `audit lines about sessions have their own limit, and signing in and out still works above it`()
    async throws
  {
    let service = try await TestService()
    let viewer = Viewer(provider: try named(Sample.provider), account: try named(Sample.account))
    let limits = service.core.limits
    var lines = 0
    for _ in 0..<150 where limits.hasSessionLine(for: viewer) { lines += 1 }
    #expect(lines == 100)
    try await withPhone(service) { client in
      var phone = try await signedIn(service, client)
      #expect(phone.page.status == 200)
      try await phone.open("/sign-out")
      try await phone.send("sign-out")
      #expect(phone.page.status == 200)
      try await eventually("all audit lines are written") { service.core.audit.linesUnderWay == 0 }
      #expect(try await service.audit("session.end").isEmpty)
      #expect(try await service.audit("session.start").isEmpty)
    }
  }
}
