import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import Testing

@testable import PairingService

@Suite struct `Two tabs of one browser` {
  @Test func `two tabs may both sign in and both approve`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var one = PhoneBrowser(client)
      try await one.reachSignIn(code)
      var other = one
      try await other.send("sign-in", rightPassword)
      #expect(other.address == "/D/\(code)/approve")
      one.cookies = other.cookies
      try await one.send("sign-in", rightPassword)
      #expect(one.address == "/D/\(code)/approve", "\(one.page.text)")
      // This page was shown before the other tab signed in with the same account.
      other.cookies = one.cookies
      try await other.send("approve")
      #expect(other.address == "/D/\(code)/result")
      one.cookies = other.cookies
      try await one.send("approve")
      #expect(one.address == "/D/\(code)/result")
    }
  }

  @Test func `two concurrent sign-ins of a browser keep the code, whichever cookie arrives last`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var first = PhoneBrowser(client)
      try await first.reachSignIn(code)
      var second = first
      try await first.send("sign-in", rightPassword)
      try await second.send("sign-in", rightPassword)
      // The second sign-in took over the code, but the browser kept the cookie of the first.
      try await first.open("/D/\(code)/approve")
      #expect(first.page.status == 200)
      try await first.send("approve")
      #expect(first.address == "/D/\(code)/result")
    }
  }

  @Test func `a tab never decides for another account than its page shows`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      let shown = phone
      try await phone.open("/sign-in")
      try await phone.send("sign-in/local", ["user": "second", "password": Sample.password])
      for step in ["approve", "deny", "number", "renew"] {
        var old = shown
        old.cookies = phone.cookies
        let answer = try await old.post("/D/\(code)/\(step)", ["csrf": shown.formToken, "reason": "not-me"])
        #expect(answer.status == 403, "\(step)")
        #expect(answer.text.contains("You have signed in or out meanwhile"), "\(step)")
      }
      #expect(try service.state(of: code)?.isPending == true)
      // Signing out is a decision, too. When no account is signed in any more, the form reports that as done.
      var old = shown
      old.cookies = phone.cookies
      #expect(try await old.post("/sign-out", ["csrf": shown.formToken]).status == 403)
      #expect(try await phone.open("/screens").status == 200)
      try await phone.open("/sign-out")
      try await phone.send("/sign-out")
      old.cookies = phone.cookies
      #expect(try await old.post("/sign-out", ["csrf": shown.formToken]).status == 200)
    }
  }

  @Test func `forms that only lead to the next page are accepted from any tab`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(code)")
      let early = phone
      try await phone.reachApproval(code)
      for (path, fields) in [
        ("/code", ["code": code]), ("/D/\(code)/open", [:]), ("/D/\(code)/provider", ["provider": Sample.provider]),
        ("/D/\(code)/sign-in?provider=local", rightPassword), ("/sign-in", ["provider": Sample.provider]),
        ("/language", ["language": "it"]),
      ] {
        var tab = early
        tab.cookies = phone.cookies
        let answer = try await tab.post(path, fields.merging(["csrf": early.formToken]) { old, _ in old })
        #expect(answer.status == 303, "\(path)")
        phone.cookies = tab.cookies
      }
    }
  }
}

/// A store that runs a given action before it starts a session.
private final class SlowToClaimStore: ForwardingStore {
  let target: any Store = MemoryStore()
  let before = Locked<(@Sendable () -> Void)?>(nil)

  func startSession(_ record: SessionRecord, replacing earlier: SessionID?, proved: String?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    before.withLock { $0 }?()
    return try await target.startSession(record, replacing: earlier, proved: proved, at: now)
  }
}

@Suite struct `A phone that waits for another phone` {
  /// The sentence on the page and the Retry-After header agree, and count from after the password check.
  @Test(arguments: [(0, 120, "2 minutes"), (30, 90, "2 minutes"), (61, 59, "less than a minute")])
  func `the page says how long to wait, counted from the moment of the response`(
    passing: Int, seconds: Int, words: String
  ) async throws {
    let store = SlowToClaimStore()
    let service = try await TestService(on: store)
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var first = PhoneBrowser(client)
      try await first.reachApproval(code)
      store.before.withLock { $0 = { service.clock.pass(.seconds(passing)) } }
      var second = PhoneBrowser(client)
      try await second.reachApproval(code, user: "second")
      #expect(second.page.status == 409)
      #expect(second.page.header("retry-after") == "\(seconds)")
      #expect(second.page.text.contains("Try again in \(words)."))
      #expect(second.page.text.split(separator: "minute").count == 2, "exactly one sentence states the waiting time")
    }
  }
}

@Suite struct `A report that the screen shows no number` {
  @Test func `a report that the screen shows no number is confirmed on a page before it is sent`() async throws {
    let service = try await TestService(options: { _ in }) { $0.numberMatching = true }
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      try await phone.send("approve")
      #expect(!phone.page.text.contains("/D/\(code)/deny"))
      #expect(phone.page.text.contains("href=\"/D/\(code)/report\""))
      try await phone.open("/D/\(code)/report")
      #expect(phone.page.status == 200)
      #expect(phone.page.text.contains("href=\"/D/\(code)/number\""))
      #expect(try service.state(of: code)?.status == .claimed)
      try await phone.send("deny")
      #expect(phone.page.text.contains("Denied and reported"))
      let actions = try await service.core.store.audit(after: 0, limit: 100).map(\.entry.action)
      #expect(actions.filter { $0 == "code.report" }.count == 1)
    }
  }

  @Test func `the page for this report exists only with number matching`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      try await phone.open("/D/\(code)/report")
      #expect(phone.address == "/D/\(code)/approve")
      var stranger = PhoneBrowser(client)
      try await stranger.open("/D/\(code)/report")
      #expect(stranger.address == "/D/\(code)")
    }
  }
}
