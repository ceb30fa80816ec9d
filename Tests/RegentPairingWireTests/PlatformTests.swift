import RegentEncodings
import RegentJSON
import RegentPairing
import RegentPairingWire
import Testing

@Suite("Platform account messages") struct PlatformWireTests {
  private let now = Instant(milliseconds: 1_790_000_000_000)

  private func request() throws -> ProfileRequest {
    ProfileRequest(
      id: "r1", issuer: "https://tv.example.com", requestor: try #require(RequestorID("SPORT")), device: "ab12",
      provider: try #require(ProviderID("cable")), issued: now)
  }

  private func assertion(_ issued: Instant) throws -> PlatformAssertion {
    PlatformAssertion(
      box: "b1", audience: "https://tv.example.com", request: "hash", provider: try #require(ProviderID("cable")),
      app: "kodi", issued: issued)
  }

  @Test func `a profile request and an assertion read back as they were written`() throws {
    #expect(try ProfileRequest(request().claims) == request())
    #expect(try PlatformAssertion(assertion(now).claims) == assertion(now))
    let text = "e30." + Base64URL.encode(try request().claims.bytes()) + ".AA"
    #expect(try ProfileRequest(unverified: text) == request())
  }

  @Test(arguments: ["", ".", "a.b", "e30.e30.", "e30.W10.AA", "e30." + String(repeating: "A", count: 5000) + ".AA"])
  func `text that is not a profile request is refused`(_ text: String) {
    #expect(ProfileRequest(unverified: text) == nil)
  }

  @Test func `a profile request or assertion that lacks a member is refused`() throws {
    for name in try request().claims.members.map(\.name) {
      var claims = try request().claims
      claims[name] = nil
      #expect(ProfileRequest(claims) == nil, "\(name)")
    }
    for name in try assertion(now).claims.members.map(\.name) {
      var claims = try assertion(now).claims
      claims[name] = nil
      #expect(PlatformAssertion(claims) == nil, "\(name)")
    }
  }

  @Test func `an assertion is valid for one minute`() throws {
    #expect(try assertion(now).isFresh(at: now + .seconds(60)))
    #expect(try !assertion(now).isFresh(at: now + .milliseconds(60_001)))
    #expect(try assertion(now).isFresh(at: now - .seconds(60)))
    #expect(try !assertion(now).isFresh(at: now - .milliseconds(60_001)))
  }

  @Test func `a box whose clock is wrong uses the request's time in its assertion`() throws {
    let request = try request()
    #expect(PlatformAssertion.issued(at: now + .seconds(5), for: request) == now + .seconds(5))
    #expect(PlatformAssertion.issued(at: Instant(milliseconds: 0), for: request) == now)
    #expect(PlatformAssertion.issued(at: now + .seconds(540), for: request) == now)
    #expect(PlatformAssertion.issued(at: now + .seconds(86_400), for: request) == now)
  }

  @Test(arguments: ["kodi", "a", "A.b-c_1", String(repeating: "a", count: 64)]) func `a valid app name is accepted`(
    _ name: String
  ) {
    #expect(PlatformApp.isName(name))
  }

  @Test(arguments: ["", ".a", "-a", "a b", "a\u{1B}[2J", "\u{202E}a", "ä", String(repeating: "a", count: 65), "a/b"])
  func `an invalid app name is refused`(_ name: String) {
    #expect(!PlatformApp.isName(name))
  }
}
