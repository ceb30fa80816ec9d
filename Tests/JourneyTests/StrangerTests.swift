import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// An attacker who has seen a code on a screen and has the app's secret, which every box has.
@Suite struct `Attackers with the secret of the app` {
  @Test func `the record of a code shows an attacker neither the ids nor the match number`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let made = try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box-1&match=number")
      let code = try made.json().string("code")
      let id = try service.found(code)
      _ = try await service.core.codeTransitions.open(id)
      let record = "/reggie/v1/REF30/regcode/\(code)"
      let recordID = try made.json().string("id")
      let number = try #require(service.core.codes.find(id)?.flow.match?.number)
      // Base64 of "box-1".
      let device = "Ym94LTE="
      #expect(try made.json()["info"]?["deviceId"] == .string(device))
      for stranger in ["", "?deviceId=box-2", "?deviceId=", "?after=0"] {
        let json = try await service.call(client, "GET", "\(record).json\(stranger)")
        #expect(json.status == 200)
        #expect(try json.json()["info"]?["deviceId"] == .string(""))
        #expect(try json.json()["match"] == nil)
        // An app may take the record's id as its device id.
        let shownID = try json.json().string("id")
        #expect(shownID != recordID && shownID.utf8.count == recordID.utf8.count)
        #expect(try json.json().string("state") == "opened")
        let xml = try await service.call(client, "GET", "\(record).xml\(stranger)")
        #expect(xml.text.contains("<deviceId></deviceId>") || xml.text.contains("<deviceId/>"))
        #expect(!xml.text.contains("<match>") && !xml.text.contains(device) && !xml.text.contains(recordID))
      }
      let own = try await service.call(client, "GET", "\(record).json?deviceId=box-1")
      #expect(try own.json()["info"]?["deviceId"] == .string(device))
      #expect(try own.json().string("id") == recordID)
      #expect(try own.json()["match"] == .integer(Int64(number)))
      let xml = try await service.call(client, "GET", "\(record).xml?deviceId=box-1")
      #expect(xml.text.contains("<match>\(number)</match>"))
    }
  }

  @Test(arguments: ["json", "xml"])
  func `an attacker can neither withdraw the code of a box nor learn that it exists`(format: String) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      func takeBack(_ code: String, _ query: String) async throws -> TestResponse {
        try await service.call(client, "DELETE", "/reggie/v1/REF30/regcode/\(code).\(format)\(query)")
      }
      let unknown = try await takeBack(try guess(1), "?deviceId=box-2")
      #expect(unknown.status == 404)
      for stranger in ["", "?deviceId=", "?deviceId=box-2", "?deviceId=BOX-1"] {
        let answer = try await takeBack(code, stranger)
        #expect(answer.status == 404 && answer.body == unknown.body, "\(stranger)")
        #expect(service.core.codes.find(try service.found(code))?.flow.state == .offered)
      }
      #expect(try await takeBack(code, "?deviceId=box-1").status == 204)
      #expect(
        service.core.codes.find(service.core.hasher.code(try RegistrationCode(typed: code)))?.flow.state == .withdrawn)
    }
  }

  @Test(arguments: ["/reggie/v1/REF30/regcode/", "/api/v1/authenticate/"])
  func `an attacker displaces no long poll of a box and uses none of its rate limit`(path: String) async throws {
    let service = try await TestService(usesMachineClock: true)
    let router = try service.router()
    let box = InProcessClient(router, peer: .network(try address("198.51.100.1"), port: 1))
    let stranger = InProcessClient(router, peer: .network(try address("198.51.100.2"), port: 1))
    let code = try await service.code(box)
    let wait = [(name: "Prefer", value: "wait=55")]
    try await withThrowingTaskGroup(of: (String, UInt16).self) { group in
      for (name, client, query) in [
        ("box", box, "?deviceId=box-1"), ("nameless box", box, ""), ("stranger", stranger, ""),
      ] as [(String, InProcessClient, String)] {
        let before = service.core.waiters.count
        group.addTask {
          (name, try await service.call(client, "GET", path + code + query, headers: wait).status)
        }
        try await eventually("the long poll of the \(name) is parked") { service.core.waiters.count == before + 1 }
      }
      // The next long poll of the attacker displaces only the attacker's own.
      group.addTask {
        ("again", try await service.call(stranger, "GET", path + code, headers: wait).status)
      }
      #expect(try await group.next()?.0 == "stranger")
      #expect(service.core.waiters.count == 3)
      try await service.approve(code)
      while let (name, status) = try await group.next() { #expect(status == 200, "\(name)") }
    }
    let late = try await TestService()
    let second = try late.router()
    let there = InProcessClient(second, peer: .network(try address("198.51.100.1"), port: 1))
    let here = InProcessClient(second, peer: .network(try address("198.51.100.2"), port: 1))
    let other = try await late.code(there)
    var last: UInt16 = 0
    for _ in 0..<101 { last = try await late.call(here, "GET", path + other).status }
    #expect(last == 429)
    #expect(try await late.call(there, "GET", path + other).status != 429)
  }
}

/// Attackers who try to use up what belongs to others, mostly attempts.
@Suite struct `Attempts used up by third parties` {
  @Test func `a web page that loads code links as images uses up no attempts of the household`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      func picture(_ code: String) -> String {
        "/api/v1/authenticate?reg_code=\(code)&requestor_id=REF30&mso_id=local"
          + "&domain_name=example.com&noflash=true&no_iframe=true&redirect_url=https%3A%2F%2Fexample.com%2F"
      }
      for number in 0..<70 {
        let wrong = try guess(number)
        let answer = try await client.get(picture(wrong))
        // The response is the same as for an existing code, so it reveals nothing.
        #expect(answer.status == 302)
        #expect(answer.header("location") == "/D/\(wrong)")
      }
      #expect(service.core.metrics.now[.wrongCodes] == 0)
      var phone = PhoneBrowser(client)
      try await phone.open(picture(code))
      try await phone.send("open")
      #expect(phone.address == "/D/\(code)/sign-in?provider=local")
      // The guess counts when a person opens the code.
      try await phone.open(picture(try guess(71)))
      try await phone.send("open")
      #expect(phone.page.status == 404)
      #expect(service.core.metrics.now[.wrongCodes] == 1)
    }
  }

  @Test func `wrong passwords for an account do not lock out its owner at another address`() async throws {
    let service = try await TestService()
    let router = try await service.phoneRouter()
    func phone(_ last: UInt32) -> PhoneBrowser {
      PhoneBrowser(InProcessClient(router, peer: .network(IPAddress(ipv4: 0x7F00_0000 + last), port: 1)))
    }
    func tryWrong(_ last: UInt32) async throws -> UInt16 {
      var phone = phone(last)
      try await phone.open("/sign-in")
      return try await phone.send(
        "sign-in/local", ["user": Sample.account, "password": "x"]
      ).status
    }
    for _ in 0..<5 { #expect(try await tryWrong(2) == 403) }
    #expect(try await tryWrong(2) == 429)
    var viewer = phone(1)
    try await viewer.signIn()
    #expect(viewer.address == "/screens")
    // The owner's sign-in does not restore attempts for the attacker.
    #expect(try await tryWrong(2) == 429)
    // Attempts from many addresses slow the account down as a whole.
    for last in 10..<30 {
      for _ in 0..<5 { #expect(try await tryWrong(UInt32(last)) == 403) }
    }
    #expect(try await tryWrong(99) == 429)
  }
}

@Suite struct `Forms on a home service without TLS` {
  private func post(host: String, origin: String, publicURL: String) async throws -> UInt16 {
    let service = try await TestService(options: { $0 = ServiceOptions(publicURL: publicURL) })
    let client = InProcessClient(
      try await service.phoneRouter(), peer: .network(try address("192.168.1.9"), port: 1))
    let page = try await client.send(TestRequest("GET", "/", headers: [("Host", host)]))
    let form = try #require(PageForm.all(in: page.text).first { $0.action == "/code" })
    let cookies = page.headers("set-cookie").map { String($0.prefix { $0 != ";" }) }
    return try await client.send(
      TestRequest(
        "POST", "/code",
        headers: [
          ("Host", host), ("Origin", origin), ("Cookie", cookies.joined(separator: "; ")),
          ("Content-Type", "application/x-www-form-urlencoded"),
        ], body: Array("csrf=\(form.hidden["csrf"] ?? "")&code=BCD".utf8))
    ).status
  }

  @Test(arguments: [
    "evil.example:8787", "rebound.tv.example.org", "192.168.1.2.evil.example", "local.evil.example",
    "evil-local.com", "fritz.box",
  ])
  func `a form with a foreign host name is refused although Host and Origin agree`(host: String) async throws {
    let status = try await post(
      host: host, origin: "http://\(host)", publicURL: "http://192.168.1.2:8787")
    #expect(status == 403)
  }

  @Test(arguments: [
    "192.168.1.2:8787", "10.0.0.7:8787", "[fd00::7]:8787", "tv:8787", "tv.local:8787",
    "tv.home.arpa", "localhost:8787", "tv.lan", "tv.example.net:8787",
  ])
  func `a form is accepted at each address of the home network`(host: String) async throws {
    let status = try await post(
      host: host, origin: "http://\(host)", publicURL: "http://tv.example.net:8787")
    #expect(status == 422)
  }
}
