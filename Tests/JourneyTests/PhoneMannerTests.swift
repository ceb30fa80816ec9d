import HTTPTestSupport
import PairingStore
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Regressions for problems that viewers reported in an operator's first week.
@Suite struct `Usability of the phone pages` {
  @Test(arguments: ["\(Sample.account) ", " \(Sample.account)\u{a0}"])
  func `the sign-in page accepts a user name with spaces that a keyboard added`(typed: String) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code, user: typed)
      #expect(phone.address.hasSuffix("/approve"), "\(phone.page.text)")
    }
  }

  @Test func `after a report the page links to My screens and not to the entry of another code`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      try await phone.send("deny", ["reason": "not-me"])
      #expect(phone.page.text.contains("Denied and reported"))
      #expect(phone.page.text.contains(#"<a class="button" href="/screens">"#), "\(phone.page.text)")
      #expect(!phone.page.text.contains("Enter your code"))
    }
  }

  @Test func `no page offers a new password when the account or its provider does not allow one`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      #expect(phone.page.text.contains(#"href="/password""#))
      try await phone.open("/password")
      let token = phone.formToken
      func isRefused() async throws -> Bool {
        let screens = try await phone.open("/screens").text
        try await phone.open("/password")
        guard phone.address == "/screens" else { return false }
        // A form that was shown before the change is refused, too.
        try await phone.post(
          "/password", ["csrf": token, "current": Sample.password, "new": "a long enough password"], following: true)
        return !screens.contains(#"href="/password""#) && phone.address == "/screens"
      }
      try await set(service, account: false, provider: true)
      #expect(try await isRefused())
      try await set(service, account: nil, provider: false)
      #expect(try await isRefused())
      try await set(service, account: true, provider: false)
      #expect(try await phone.open("/password").text.contains("New password"))
      try await set(service, account: nil, provider: true)
      #expect(try await phone.open("/password").text.contains("New password"))
      // The password has not changed.
      var other = PhoneBrowser(client)
      try await other.signIn()
      #expect(other.address == "/screens")
    }
  }

  private func set(_ service: TestService, account: Bool?, provider: Bool) async throws {
    let (id, name): (ProviderID, AccountName) = (try named(Sample.provider), try named(Sample.account))
    let store = service.core.store
    guard var record = try await store.account(id, name),
      var own = service.core.provisioning.now.records.providers[id]
    else { throw TestSupportError("the sample is not there") }
    let old = (record, own)
    record.mayChangePassword = account
    own.mayChangePasswords = provider
    _ = try await store.put(.account(record), replacing: .account(old.0), audit: nil, at: service.core.clock.now)
    _ = try await store.put(.provider(own), replacing: .provider(old.1), audit: nil, at: service.core.clock.now)
    try await service.core.refreshProvisioning()
  }
}
