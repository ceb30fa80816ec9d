import HTTPTestSupport
import PairingStore
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

extension PhoneBrowser {
  /// Sends a form and discards the response, as when the connection breaks after the service has processed it.
  func lose(_ action: String, _ fields: [String: String] = [:]) async throws {
    var lost = self
    try await lost.send(action, fields, following: false)
  }

  /// Goes from the code to the sign-in form.
  mutating func reachSignIn(_ code: String) async throws {
    try await open("/D/\(code)")
    try await send("open")
    try await send("provider", ["provider": Sample.provider])
  }
}

/// The fields of the sign-in form with the right password.
let rightPassword = ["user": Sample.account, "password": Sample.password]

private func sessions(_ service: TestService, account: String? = Sample.account, at provider: String = Sample.provider)
  async throws -> [SessionRecord]
{
  let viewer = Viewer(provider: try named(provider), account: try account.map { try named($0) })
  return try await service.core.store.sessions(of: viewer, at: service.core.clock.now)
}

extension TestService {
  func state(of code: String) throws -> PairingState? { core.codes.find(try found(code))?.flow.state }
}

@Suite struct `Forms sent again after a lost response` {
  @Test(arguments: [1, 3])
  func `a sign-in and an approval that are sent again succeed`(losses: Int) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachSignIn(code)
      for _ in 0..<losses { try await phone.lose("sign-in", rightPassword) }
      #expect(try service.state(of: code)?.status == .claimed)
      try await phone.send("sign-in", rightPassword)
      #expect(phone.address == "/D/\(code)/approve")
      #expect(phone.page.status == 200)
      try await phone.lose("approve")
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
      #expect(phone.page.text.contains("data-state=\"approved\""))
      #expect(try service.state(of: code)?.approval?.viewer.account?.text == Sample.account)
    }
  }

  /// An account has five tries from one address, but more requests with the right password may arrive at the same time.
  @Test(arguments: [4, 12])
  func `sign-ins that one browser sends at the same time all lead to the code`(count: Int) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      // Fewer than the 50 sessions that one account may have.
      for round in 0..<(40 / count) {
        let code = try await newCode(service, client, device: "box-\(round)")
        var phone = PhoneBrowser(client)
        try await phone.reachSignIn(code)
        let ends = try await withThrowingTaskGroup(of: String?.self) { group in
          for _ in 0..<count {
            group.addTask { [phone] in
              var phone = phone
              return try await phone.send("sign-in", rightPassword, following: false).header("location")
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends == Array(repeating: "/D/\(code)/approve", count: count))
      }
    }
  }

  @Test(arguments: ["open", "deny", "release", "renew"])
  func `reloading a form address with GET leads to the current page of the code`(form: String) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachSignIn(code)
      try await phone.send("sign-in", rightPassword)
      try await phone.open("/D/\(code)/\(form)")
      #expect(phone.address == "/D/\(code)/approve")
      #expect(phone.page.status == 200)
      #expect(try service.state(of: code)?.status == .claimed)
    }
  }

  @Test func `a repeated sign-in leaves sessions that end with the next sign-in of the browser`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var other = PhoneBrowser(client)
      try await other.signIn()
      var phone = PhoneBrowser(client)
      try await phone.reachSignIn(try await newCode(service, client))
      for _ in 0..<3 { try await phone.lose("sign-in", rightPassword) }
      try await phone.send("sign-in", rightPassword)
      #expect(try await sessions(service).count == 5)
      service.clock.pass(.seconds(61))
      try await phone.signIn()
      // One session of this browser and one of the other are left.
      #expect(try await sessions(service).count == 2)
      for browser in [phone, other] {
        var browser = browser
        #expect(try await browser.open("/screens").status == 200)
        #expect(browser.address == "/screens")
      }
    }
  }

  @Test func `a repeated choice of the temporary pass signs the guest in once`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(code)")
      try await phone.send("open")
      try await phone.lose("provider", ["provider": Sample.pass])
      try await phone.lose("provider", ["provider": Sample.pass])
      try await phone.send("provider", ["provider": Sample.pass])
      #expect(phone.address == "/D/\(code)/approve")
      #expect(phone.page.status == 200)
      #expect(try await sessions(service, account: nil, at: Sample.pass).count == 1)
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
    }
  }

  @Test func `after a lost response the viewer can sign in with another account`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachSignIn(code)
      try await phone.lose("sign-in", rightPassword)
      try await phone.send("sign-in", ["user": "second", "password": Sample.password])
      #expect(phone.page.text.contains("second"))
      try await phone.send("approve")
      #expect(try service.state(of: code)?.approval?.viewer.account?.text == "second")
    }
  }

  @Test func `every repeated form ends on the page of the lost response or says what happened`() async throws {
    let service = try await TestService(options: { _ in }) { $0.numberMatching = true }
    try await withPhone(service) { client in
      for way in ["open", "code", "release", "right number", "wrong number", "deny", "report", "sign-out"] {
        let code = try await newCode(service, client, device: "box-\(way.prefix(5))")
        let match = try #require(service.core.codes.find(try service.found(code))?.flow.match)
        var phone = PhoneBrowser(client)
        func twice(_ action: String, _ fields: [String: String] = [:]) async throws {
          try await phone.lose(action, fields)
          try await phone.send(action, fields)
        }
        switch way {
        case "open":
          try await phone.open("/D/\(code)")
          try await twice("open")
          #expect(phone.address == "/D/\(code)/provider", "\(way)")
          continue
        case "code":
          try await phone.open("/")
          try await twice("/code", ["code": code])
          #expect(phone.address == "/D/\(code)/provider", "\(way)")
          continue
        default: try await phone.reachApproval(code)
        }
        switch way {
        case "release":
          try await twice("release")
          #expect(phone.address == "/D/\(code)/provider?switch=1")
          #expect(try service.state(of: code)?.status == .opened)
        case "right number", "wrong number":
          try await phone.send("approve")
          let wrong = match.number == 99 ? 10 : match.number + 1
          try await twice("number", ["number": "\(way == "right number" ? match.number : wrong)"])
          let words = way == "right number" ? "data-state=\"approved\"" : "That was not the number"
          #expect(phone.page.text.contains(words), "\(way)")
        case "deny", "report":
          try await twice("deny", way == "report" ? ["reason": "not-me"] : [:])
          #expect(phone.page.status == 200)
          #expect(phone.page.text.contains("The screen was not signed in") || phone.page.text.contains("reported"))
        default:
          try await phone.open("/sign-out")
          try await twice("/sign-out")
          #expect(phone.page.text.contains("This phone is signed out"))
        }
      }
    }
  }

  @Test func `a repeated sign-out of a screen says that the screen is not signed in`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try await newCode(service, client))
      try await phone.send("approve")
      try await phone.open("/screens")
      let screen = try #require(
        phone.page.text.split(separator: "href=\"/screens/").dropFirst().first.map { $0.prefix { $0 != "/" } })
      try await phone.open("/screens/\(screen)/sign-out")
      try await phone.lose("sign-out")
      try await phone.send("sign-out")
      #expect(phone.page.status == 404)
      #expect(phone.page.text.contains("This screen is not signed in"))
    }
  }

  @Test(arguments: Ground.allCases)
  func `another node recognises the browser of a repeated sign-in`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await withPhone(nodes.a) { atA in
        try await withPhone(nodes.b) { atB in
          let code = try await newCode(nodes.a, atA)
          var phone = PhoneBrowser(atA)
          try await phone.reachSignIn(code)
          try await phone.lose("sign-in", rightPassword)
          phone.client = atB
          try await phone.send("sign-in", rightPassword)
          #expect(phone.page.status == 200)
          #expect(phone.address == "/D/\(code)/approve")
          try await phone.send("approve")
          #expect(phone.address == "/D/\(code)/result")
          // Another browser is recognised as another phone at every node.
          let second = try await newCode(nodes.a, atA, device: "box-2")
          phone.client = atA
          try await phone.open("/D/\(second)")
          try await phone.send("open")
          var stranger = PhoneBrowser(atB)
          try await stranger.reachApproval(second)
          #expect(stranger.page.status == 409)
        }
      }
    }
  }

  @Test func `a session id is recognised only for the browser that it was made for`() async throws {
    let service = try await TestService()
    let seals = try await BrowserSeals(service.core.store)
    let (one, other) = (BrowserSeals.newID(), BrowserSeals.newID())
    for _ in 0..<100 {
      let session = try #require(seals.newSessionID(browserID: one))
      #expect(seals.isSession(session, of: one))
      #expect(!seals.isSession(session, of: other))
      // With any single digit changed the id is not recognised.
      let digits = Array(session.text)
      for place in digits.indices where digits[place] != "-" {
        var changed = digits
        changed[place] = changed[place] == "0" ? "1" : "0"
        #expect(!seals.isSession(try named(String(changed)), of: one))
      }
    }
    #expect(!seals.isSession(try named("none"), of: one))
  }
}
