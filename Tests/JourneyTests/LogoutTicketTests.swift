import HTTPTestSupport
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Logout tickets` {
  private static let way = "/logout?requestor_id=REF30&ticket="
  private static let home = "&redirect_url=adobepass%3A%2F%2Fios.app"

  /// A signed-in browser, and the logout ticket of a device that the browser approved and that has signed out.
  private func signedOutDevice(
    _ service: TestService, _ client: any TestClient, _ user: String = Sample.account, device: String
  ) async throws -> (phone: PhoneBrowser, ticket: String) {
    var phone = PhoneBrowser(client)
    try await phone.signIn(user)
    service.clock.pass(.seconds(1))
    try await phone.reachApproval(try await newCode(service, client, device: device), user: user)
    try await phone.send("approve")
    let box = Box(service: service, client: client, device: device)
    #expect(try await box.get("/api/v1/tokens/authn").status == 200)
    let out = try await box.send("DELETE", "/api/v1/logout")
    #expect(out.status == 204 && out.text.isEmpty)
    return (phone, try #require(out.response.header("regent-logout-ticket")))
  }

  private func service() async throws -> TestService {
    try await TestService(options: { _ in }) { $0.redirectURIs = ["adobepass://ios.app"] }
  }

  @Test func `a logout ticket signs the browser out without a tap and redirects it back`() async throws {
    let service = try await service()
    try await withPhone(service) { client in
      var (phone, ticket) = try await signedOutDevice(service, client, device: "one")
      try await phone.open(Self.way + ticket + Self.home)
      #expect(phone.page.status == 302 && phone.page.header("location") == "adobepass://ios.app")
      #expect(phone.cookie("session") == nil)
      // After a new sign-in of the browser the old ticket no longer applies.
      try await phone.signIn()
      try await phone.open(Self.way + ticket + Self.home)
      #expect(phone.page.status == 302 && phone.cookie("session") != nil)
      // A device that is not signed in gets no ticket.
      let again = try await Box(service: service, client: client, device: "one").send("DELETE", "/api/v1/logout")
      #expect(again.response.header("regent-logout-ticket") == nil)
    }
  }

  @Test func `a foreign page cannot sign a browser out with any ticket of another viewer`() async throws {
    let service = try await service()
    try await service.addAccount("stranger")
    try await withPhone(service) { client in
      let before = try await signedOutDevice(service, client, "stranger", device: "before").ticket
      var (phone, mine) = try await signedOutDevice(service, client, device: "mine")
      // This ticket is younger than the browser's session, so only its viewer tells it from the browser's own.
      let after = try await signedOutDevice(service, client, "stranger", device: "after").ticket
      let middle = mine.index(mine.endIndex, offsetBy: -20)
      let forged = mine[..<middle] + (mine[middle] == "A" ? "B" : "A") + mine[mine.index(after: middle)...]
      for ticket in [before, after, String(forged), "", "x", "..", "\(mine).x"] {
        try await phone.open(Self.way + ticket + Self.home)
        #expect(phone.cookie("session") != nil, "\(ticket)")
        // An invalid ticket leads to the page that asks the viewer, as no ticket does.
        #expect((phone.page.status == 200) == ![before, after].contains(ticket), "\(ticket)")
      }
      // A ticket of another requestor is refused. Without a redirect, or too old, it leads to the page that asks.
      try await phone.open("/logout?requestor_id=OTHER&ticket=\(mine)" + Self.home)
      #expect(phone.page.status == 400 && phone.cookie("session") != nil)
      try await phone.open("/logout?ticket=\(mine)")
      #expect(phone.page.status == 200 && phone.cookie("session") != nil)
      service.clock.pass(.seconds(601))
      try await phone.open(Self.way + mine + Self.home)
      #expect(phone.page.status == 200 && phone.cookie("session") != nil)
    }
  }

  @Test func `the ticket of one guest does not sign out another guest`() async throws {
    let service = try await service()
    try await withPhone(service) { client in
      var (phone, other) = (PhoneBrowser(client), PhoneBrowser(client))
      for (index, var one) in [phone, other].enumerated() {
        try await one.reachApprovalAsGuest(try await newCode(service, client, device: "guest-\(index)"))
        try await one.send("approve")
        if index == 0 { phone = one } else { other = one }
      }
      service.clock.pass(.seconds(1))
      let box = Box(service: service, client: client, device: "guest-0")
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
      let ticket = try #require(
        try await box.send("DELETE", "/api/v1/logout").response.header("regent-logout-ticket"))
      try await other.open(Self.way + ticket + Self.home)
      #expect(other.page.status == 302 && other.cookie("session") != nil)
    }
  }
}
