import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

/// A proxy that strips the path prefix before it forwards a request, as `proxy_pass http://…/;` does.
private struct StrippingProxy: TestClient {
  let behind: any TestClient

  func send(_ request: TestRequest) async throws -> TestResponse {
    guard request.target.hasPrefix("/tv") else {
      throw StrayRequest(description: "\(request.target) does not reach the service")
    }
    var request = request
    request.target = String(request.target.dropFirst(3))
    return try await behind.send(request)
  }
}

private struct StrayRequest: Error, CustomStringConvertible { let description: String }

/// The addresses in a page that a browser would follow.
func addresses(in page: String) -> [String] {
  ["href", "src", "action", "data-wait", "data-renew"].flatMap { name in
    page.split(separator: " \(name)=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
  }.filter { !$0.hasPrefix("#") }
}

@Suite struct `A service below a path prefix` {
  private func service() async throws -> TestService {
    try await TestService(options: { $0.publicURL = "https://tv.example.org/tv/" }) {
      $0.logo = "/logos/x.svg"
      $0.color = "#e4b400"
    }
  }

  @Test(arguments: [true, false])
  func `every page links only to addresses below the prefix`(strips: Bool) async throws {
    let service = try await service()
    try await withPhone(service) { inside in
      let client: any TestClient = strips ? StrippingProxy(behind: inside) : inside
      let answer = try await service.call(
        inside, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box-1"
      ).json()
      let code = try answer.string("code")
      #expect(try answer.string("verificationURL") == "https://tv.example.org/tv")
      let link = try answer.string("verificationURLComplete")
      #expect(link.hasPrefix("https://tv.example.org/tv/D/\(code)."))

      var phone = PhoneBrowser(client)
      var followed: Set<String> = []
      func look() {
        #expect(phone.page.text.contains("<!DOCTYPE html>"), "\(phone.address)")
        #expect(phone.address.hasPrefix("/tv"))
        for address in addresses(in: phone.page.text) {
          #expect(address.hasPrefix("/tv/"), "\(address) on \(phone.address)")
          followed.insert(address)
        }
      }
      try await phone.open("/tv/")
      look()
      try await phone.send("/tv/language", ["language": "it"])
      #expect(phone.address == "/tv/")
      #expect(phone.page.text.contains("lang=\"it\""))
      try await phone.send("/tv/code", ["code": "no"])
      look()
      try await phone.send("/tv/code", ["code": link])
      #expect(phone.address == "/tv/D/\(code)/provider")
      look()
      try await phone.send("provider", ["provider": Sample.provider])
      look()
      // Switching the language in the middle of a sign-in leads back to the same page.
      try await phone.send("/tv/language", ["language": "en"])
      #expect(phone.address == "/tv/D/\(code)/sign-in?provider=local")
      try await phone.send("sign-in", ["user": Sample.account, "password": Sample.password])
      #expect(phone.address == "/tv/D/\(code)/approve")
      look()
      try await phone.send("approve")
      look()
      for path in ["/screens", "/screens/sign-out", "/password", "/sign-out", "/nothing", "/D/x"] {
        try await phone.open("/tv\(path)")
        look()
      }
      try await phone.open("/tv/screens")
      let rename = try #require(
        addresses(in: phone.page.text).first { $0.hasSuffix("/rename") })
      try await phone.open(rename)
      try await phone.send("rename", ["name": "Hall"])
      #expect(phone.address == "/tv/screens?done=renamed")
      try await phone.send("/tv/language", ["language": "ko"])
      #expect(phone.address.hasPrefix("/tv/screens"))
      try await phone.open("/tv/sign-out")
      try await phone.send("sign-out")
      // The requested page is remembered over the sign-in.
      try await phone.open("/tv/password")
      look()
      try await phone.send("sign-in/local", ["user": Sample.account, "password": Sample.password])
      #expect(phone.address == "/tv/password")
      for address in followed where !address.contains("/D/") && !address.contains("/logos/") {
        let status = try await client.get(address).status
        #expect([200, 303, 404, 405].contains(status), "\(address)")
        if address.contains("/static/") { #expect(status == 200, "\(address)") }
      }
    }
  }

  @Test func `the web manifest and the OpenAPI description have addresses below the prefix`() async throws {
    let service = try await service()
    try await withPhone(service) { client in
      let page = try await client.get("/tv/").text
      let manifest = try #require(
        addresses(in: page).first { $0.hasSuffix(".webmanifest") })
      let answer = try await client.get(manifest)
      #expect(answer.text.contains(#""start_url":"/tv/""#))
      for icon in answer.text.split(separator: "\"src\":\"").dropFirst() {
        #expect(try await client.get(String(icon.prefix { $0 != "\"" })).status == 200)
      }
      let description = try await client.get("/tv/openapi.json").text
      #expect(description.contains(#""servers":[{"url":"/tv/"}]"#))
    }
  }

  @Test func `requests are answered with and without the prefix, and refused under any other path`() async throws {
    let service = try await service()
    try await withPhone(service) { client in
      for (target, status) in [
        ("/tv", 200), ("/tv/", 200), ("/", 200), ("/tv?x=1", 200), ("/healthz", 200),
        ("/tv/healthz", 200), ("/tvx/healthz", 404), ("/tv/tv/healthz", 404),
        ("/tv//healthz", 400), ("/tv/../healthz", 400), ("/TV/healthz", 404),
        ("https://tv.example.org/tv/healthz", 200), ("https://tv.example.org/tv", 200),
      ] {
        #expect(try await client.get(target).status == UInt16(status), "\(target)")
      }
      // Boxes sign their path without the prefix.
      let answer = try await client.send(
        TestRequest(
          "POST", "/tv/reggie/v1/REF30/regcode.json?deviceId=box",
          headers: [try service.signature("POST", "/reggie/v1/REF30/regcode.json")]))
      #expect(answer.status == 201)
    }
  }
}
