import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import RegentPlatform
import PairingStore
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Requests a code for a box and returns it.
func newCode(
  _ service: TestService, _ client: any TestClient, device: String = "box-1", _ more: String = ""
) async throws -> String {
  try await service.call(
    client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=\(device)\(more)"
  ).json().string("code")
}

/// Runs a test body with an in-process client of the service's phone routes.
func withPhone(
  _ service: TestService, _ body: (any TestClient) async throws -> Void
) async throws {
  try await TestTransport.inProcess.withClient(of: try await service.phoneRouter(), body)
}

extension PhoneBrowser {
  /// Goes from the code to the page for approval, and signs in when the page asks for it.
  mutating func reachApproval(
    _ code: String, user: String = Sample.account, password: String = Sample.password
  ) async throws {
    try await open("/D/\(code)")
    try await send("open")
    if address.hasSuffix("/provider") { try await send("provider", ["provider": Sample.provider]) }
    if address.contains("/sign-in") {
      try await send("sign-in", ["user": user, "password": password])
    }
  }

  /// Goes to the page for approval as a guest, with the temporary pass.
  mutating func reachApprovalAsGuest(_ code: String) async throws {
    try await open("/D/\(code)")
    try await send("open")
    try await send("provider", ["provider": Sample.pass])
  }
}

@Suite struct `Signing a screen in with a phone` {
  @Test(arguments: TestTransport.allCases)
  func `a viewer types the code, signs in, approves, and the box gets its sign-in`(transport: TestTransport)
    async throws
  {
    let service = try await TestService()
    try await transport.withClient(of: try await service.phoneRouter()) { client in
      let code = try await newCode(service, client)
      let id = try service.found(code)
      var phone = PhoneBrowser(client)
      #expect(try await phone.open("/").status == 200)
      // Lower case and with a dash, as people type.
      let typed = code.prefix(4).lowercased() + "-" + code.suffix(4).lowercased()
      try await phone.send("/code", ["code": typed])
      #expect(phone.address == "/D/\(code)/provider")
      #expect(service.core.codes.find(id)?.flow.state.status == .opened)
      try await phone.send("provider", ["provider": Sample.provider])
      #expect(phone.address == "/D/\(code)/sign-in?provider=local")
      try await phone.send("sign-in", ["user": Sample.account, "password": Sample.password])
      #expect(phone.address == "/D/\(code)/approve")
      #expect(phone.page.text.contains("\(code.prefix(4))-\(code.suffix(4))"))
      #expect(phone.page.text.contains("Reference"))
      #expect(service.core.codes.find(id)?.flow.state.status == .claimed)

      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
      #expect(phone.page.text.contains("data-state=\"approved\""))
      let answer = try await service.call(
        client, "GET", "/api/v1/tokens/authn?format=json&deviceId=box-1")
      #expect(answer.status == 200)
      let wait = try await phone.open("/D/\(code)/wait?state=approved")
      #expect(wait.text == #"{"state":"delivered"}"#)
      #expect(try await phone.open("/D/\(code)/result").text.contains("data-state=\"delivered\""))
    }
  }

  @Test func `a signed-in viewer approves a scanned code with two taps`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try await newCode(service, client, device: "first"))
      try await phone.send("approve")
      let code = try await newCode(service, client, device: "second")
      // The first tap is the one that the page's script makes, the second is the approval.
      try await phone.open("/d/\(code.lowercased())")
      try await phone.send("open")
      #expect(phone.address == "/D/\(code)/approve")
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
    }
  }

  @Test func `the result page is updated as soon as the box has its sign-in`() async throws {
    let service = try await TestService(usesMachineClock: true)
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      try await phone.send("approve")
      var watching = phone
      async let wait = watching.open("/D/\(code)/wait?state=approved")
      try await eventually("the long poll is parked") { service.core.waiters.count == 1 }
      _ = try await service.call(client, "GET", "/api/v1/tokens/authn?deviceId=box-1")
      #expect(try await wait.text == #"{"state":"delivered"}"#)
    }
  }

  @Test func `the result page says when the box has not picked up its sign-in`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      try await phone.send("approve")
      service.clock.pass(.seconds(3))
      #expect(try await phone.open("/D/\(code)/wait?state=approved").text == #"{"state":"late"}"#)
      let late = try await phone.open("/D/\(code)/result").text
      #expect(late.contains("data-state=\"late\"") && late.contains("has not picked it up yet"), "\(late)")
      service.clock.pass(.seconds(28))
      #expect(try await phone.open("/D/\(code)/wait?state=approved").text == #"{"state":"silent"}"#)
      #expect(try await phone.open("/D/\(code)/result").text.contains("data-state=\"silent\""))
    }
  }

  @Test func `a denial reaches the box, and a report is logged, counted and found by doctor`() async throws {
    let logged = Locked<[String]>([])
    let log = ServiceLog { _, event, fields in logged.withLock { $0.append("\(event) \(fields)") } }
    let service = try await TestService(log: log)
    try await withPhone(service) { client in
      for (device, reason) in [("one", ""), ("two", "not-me")] {
        let code = try await newCode(service, client, device: device)
        var phone = PhoneBrowser(client)
        try await phone.reachApproval(code)
        try await phone.send("deny", reason.isEmpty ? [:] : ["reason": reason])
        #expect(phone.page.status == 200)
        #expect(phone.page.text.contains(reason.isEmpty ? "Denied" : "Denied and reported"))
        let answer = try await service.call(
          client, "GET", "/api/v1/tokens/authn.json?deviceId=\(device)")
        #expect(answer.status == 403)
        #expect(answer.text.contains("denied"))
      }
      let lines = try await service.core.store.audit(after: 0, limit: 100).map(\.entry)
      let audit = lines.map(\.action)
      #expect(audit.contains("code.deny") && audit.contains("code.report"))
      let reports = logged.withLock { $0.filter { $0.hasPrefix("code-reported") } }
      #expect(reports.count == 1 && reports[0].contains("local/\(Sample.account)"), "\(reports)")
      #expect(service.core.metricsText().contains("regent_codes_reported_total 1\n"))
      // The finding does not end at midnight or with a restart; it ends after a day.
      for (pause, isFound) in [(0, true), (86_000, true), (1_000, false)] {
        service.clock.pass(.seconds(pause))
        let doctor = try await AdminSocket(service.core).send("GET", "/v1/doctor").text
        #expect(
          doctor.contains("viewers reported 1 code in 24 hours that they did not start") == isFound,
          "\(pause): \(doctor)")
      }
      // The line names the box as `device list` does, so that an operator can find it.
      for (action, device) in [("code.deny", "one"), ("code.report", "two")] {
        let name = service.core.hasher.device(try #require(DeviceID(device))).shortName
        let line = try #require(lines.first { $0.action == action })
        #expect(line.detail.contains("\(Sample.requestor), device \(name)"), "\(line.detail)")
      }
    }
  }

  @Test func `the provider that the box names comes first, and the viewer can choose another`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client, "&mvpd=local")
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(code)")
      try await phone.send("open")
      #expect(phone.address == "/D/\(code)/sign-in?provider=local")
      try await phone.open("/D/\(code)/provider")
      #expect(phone.page.text.contains("Ten minutes"))
      // A provider that needs data which the page cannot ask for is not offered.
      #expect(!phone.page.text.contains("Two titles"))
    }
  }

  @Test func `a guest needs no account and has no page My screens`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApprovalAsGuest(code)
      #expect(phone.address == "/D/\(code)/approve")
      #expect(phone.page.text.contains("as a guest of"))
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
      let answer = try await service.call(
        client, "GET", "/api/v1/tokens/authn?format=json&deviceId=box-1")
      #expect(try answer.json().string("mvpd") == Sample.pass)
      try await phone.open("/screens")
      #expect(phone.address.hasPrefix("/sign-in"))
    }
  }

  @Test func `a viewer can change the account before approving`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      let before = phone.cookie("session")
      try await phone.send("release")
      #expect(phone.address == "/D/\(code)/provider?switch=1")
      try await phone.send("provider", ["provider": Sample.provider])
      try await phone.send("sign-in", ["user": "second", "password": Sample.password])
      #expect(phone.address == "/D/\(code)/approve")
      #expect(phone.page.text.contains("second"))
      #expect(phone.cookie("session") != before)
    }
  }
}

@Suite struct `Number matching` {
  @Test(arguments: [true, false])
  func `the right number signs the box in, and a wrong one ends the code`(picksRight: Bool) async throws {
    let service = try await TestService(options: { _ in }) { $0.numberMatching = true }
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      let id = try service.found(code)
      let match = try #require(service.core.codes.find(id)?.flow.match)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/number")
      #expect(service.core.codes.find(id)?.flow.state.status == .claimed)
      // The page offers no numbers to choose from and warns the viewer not to accept a number from other people.
      #expect(!phone.page.text.contains("value=\"\(match.number)\"") && !phone.page.text.contains(">\(match.number)<"))
      #expect(phone.page.text.contains("A person who tells you the number"))
      // Input that cannot be a number of a screen is asked for again.
      for slip in ["7", "", "4x", "100"] {
        try await phone.send("number", ["number": slip])
        #expect(phone.address == "/D/\(code)/number?again=1")
        #expect(phone.page.text.contains("id=\"number-problem\""))
      }
      let wrong = match.number == 99 ? 10 : match.number + 1
      try await phone.send("number", ["number": "\(picksRight ? match.number : wrong)"])
      #expect(phone.address == "/D/\(code)/result")
      let state = service.core.codes.find(id)?.flow.state.status
      #expect(state == (picksRight ? .approved : .denied))
      #expect(phone.page.text.contains(picksRight ? "data-state" : "That was not the number"))
      guard !picksRight else { return }
      // The viewer has one attempt: the right number is refused afterwards.
      try await phone.open("/D/\(code)/number")
      #expect(phone.page.text.contains("That was not the number"))
      let late = try await phone.post("/D/\(code)/number", ["csrf": phone.formToken, "number": "\(match.number)"])
      #expect(late.status < 500 && service.core.codes.find(id)?.flow.state.status == .denied)
    }
  }
}

@Suite struct `Two phones with one code` {
  @Test(arguments: ["lapse", "release", "sign-out"])
  func `a second phone can approve after the first has released the code`(how: String) async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      let id = try service.found(code)
      var first = PhoneBrowser(client)
      var second = PhoneBrowser(client)
      try await first.reachApproval(code)
      try await second.reachApproval(code, user: "second")
      #expect(second.page.status == 409)
      #expect(second.page.header("retry-after") == "120")
      for step in ["approve", "deny", "renew"] {
        let answer = try await second.post(
          "/D/\(code)/\(step)", ["csrf": second.formToken])
        #expect(answer.status == 409)
        #expect(service.core.codes.find(id)?.flow.state.status == .claimed)
        try await second.open("/D/\(code)/approve")
      }
      switch how {
      case "lapse": service.clock.pass(.seconds(121))
      case "release": try await first.send("release")
      default:
        try await first.open("/sign-out")
        try await first.send("/sign-out")
      }
      try await second.open("/D/\(code)/approve")
      #expect(second.page.status == 200)
      try await second.send("approve")
      #expect(second.address == "/D/\(code)/result")
      #expect(
        service.core.codes.find(id)?.flow.state.approval?.viewer.account?.text == "second")
      // The first phone learns that the code is gone, but not which account approved it.
      let late = try await first.open("/D/\(code)/result")
      #expect(late.status == 410)
      #expect(!late.text.contains("second"))
      #expect(try await first.open("/D/\(code)/wait?state=approved").status == 404)
    }
  }

  @Test func `an open page for approval keeps the code for its phone`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var first = PhoneBrowser(client)
      var second = PhoneBrowser(client)
      try await first.reachApproval(code)
      for _ in 0..<4 {
        service.clock.pass(.seconds(100))
        let renewed = try await first.post("/D/\(code)/renew", ["csrf": first.formToken])
        #expect(renewed.status == 204)
        try await first.open("/D/\(code)/approve")
      }
      try await second.reachApproval(code, user: "second")
      #expect(second.page.status == 409)
    }
  }
}
