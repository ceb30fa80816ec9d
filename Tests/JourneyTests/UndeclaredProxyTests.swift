import HTTPServer
import HTTPTestSupport
import RegentHTTPCodec
import ServiceTestSupport
import Testing

@testable import PairingService

/// Behind a proxy that the settings do not name, all clients appear to have one address.
@Suite struct `Proxies that the settings do not name` {
  private static let same = "The same as this phone"

  /// The text of the approve page for a phone and a box at the same address.
  private func page(
    _ peer: String, headers: [(name: String, value: String)] = [], _ service: TestService
  ) async throws -> String {
    let address = try #require(IPAddress(peer))
    let client = InProcessClient(try await service.phoneRouter(), peer: .network(address, port: 1))
    let code = try await newCode(service, client, device: "box-of-\(headers.count)")
    var phone = PhoneBrowser(client)
    phone.headers = headers
    try await phone.reachApproval(code)
    #expect(phone.page.text.contains("Network"))
    return phone.page.text
  }

  @Test func `behind an undeclared proxy the approve page says nothing about the network`() async throws {
    let service = try await TestService()
    #expect(try await page("203.0.113.7", service).contains(Self.same))
    for name in ["X-Forwarded-For", "Forwarded", "X-Forwarded-Proto"] {
      let text = try await page("203.0.113.7", headers: [(name, "for=198.51.100.1")], service)
      #expect(!text.contains(Self.same), "\(name)")
    }
    // The service has a public name, so phones at a private address come through a proxy.
    for peer in ["10.0.0.2", "192.168.1.1", "172.17.0.1", "fd00::1"] {
      #expect(try await !page(peer, service).contains(Self.same), "\(peer)")
    }
  }

  @Test func `doctor names a proxy at a private address, but not a public client that sends proxy headers`()
    async throws
  {
    let service = try await TestService()
    let admin = try AdminSocket(service.core)
    func said() async throws -> Bool { try await admin.send("GET", "/v1/doctor").text.contains("10.0.0.2") }
    let headers = [(name: "X-Forwarded-For", value: "198.51.100.1")]
    _ = try await page("10.0.0.2", service)
    _ = try await page("203.0.113.7", headers: headers, service)
    #expect(try await !said())
    #expect(try await !admin.send("GET", "/v1/doctor").text.contains("203.0.113.7"))
    _ = try await page("10.0.0.2", headers: headers, service)
    #expect(try await said())
    service.clock.pass(.seconds(86_401))
    #expect(try await !said())
  }

  @Test func `a proxy on a Unix socket that sends no client addresses gets the limits of one client`() async throws {
    let service = try await TestService()
    let admin = try AdminSocket(service.core)
    func said() async throws -> Bool { try await admin.send("GET", "/v1/doctor").text.contains("X-Forwarded-For") }
    #expect(try await !said())
    let client = InProcessClient(
      try await service.phoneRouter(), peer: .local(Credentials(process: 1, user: 33, group: 33)))
    // Each guess comes from a new browser, as if many phones shared the proxy.
    var refused = 0
    let letters = Array("BCDFGHJKLMNP")
    for number in 0..<70 {
      var phone = PhoneBrowser(client)
      _ = try await phone.open("/")
      let code = "BCDFGH\(letters[number / 12])\(letters[number % 12])"
      let answer = try await phone.post("/code", ["csrf": phone.formToken, "code": code])
      refused += answer.status == 429 ? 1 : 0
    }
    #expect(refused >= 10)
    #expect(try await said())
  }

  @Test(arguments: ["http://192.168.1.2:8787", "http://tv.example.org"])
  func `doctor warns of a service without TLS, at home, too`(address: String) async throws {
    let service = try await TestService(options: { $0.publicURL = address })
    let findings = try await AdminSocket(service.core).send("GET", "/v1/doctor").text.split(separator: "{")
    let encryption = try #require(findings.first { $0.contains(#""check":"encryption""#) })
    #expect(encryption.contains(#""status":"warning""#) && encryption.contains("no TLS"), "\(encryption)")
  }

  @Test func `cookies are named after the port and the path of the service`() {
    func name(_ url: String) -> String { BrowserCookies(publicURL: url).name(.session) }
    #expect(name("https://tv.example.org") == "__Host-regent-session")
    #expect(name("https://tv.example.org:443/") == "__Host-regent-session")
    #expect(name("https://tv.example.org:8443") == "__Host-regent-8443-session")
    #expect(name("https://tv.example.org/a/tv") == "__Host-regent-a-tv-session")
    #expect(name("http://192.168.1.2:8787") == "regent-plain-http-8787-session")
    #expect(name("http://tv.local") == "regent-plain-http-session")
  }
}
