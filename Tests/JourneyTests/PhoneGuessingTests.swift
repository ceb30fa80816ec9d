import RegentHTTPCodec
import RegentJSON
import HTTPServer
import HTTPTestSupport
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Guessed codes on the phone pages` {
  @Test func `five wrong codes block typed codes for that browser only`() async throws {
    let service = try await TestService()
    let router = try await service.phoneRouter()
    let guesser = InProcessClient(router, peer: .network(IPAddress(ipv4: 0xCB00_7101), port: 1))
    let viewer = InProcessClient(router, peer: .network(IPAddress(ipv4: 0xCB00_7102), port: 1))
    let code = try await newCode(service, viewer)
    var phone = PhoneBrowser(guesser)
    for number in 0..<5 {
      try await phone.open("/")
      let guess = try #require(RegistrationCode(ordinal: UInt64(number)))
      try await phone.send("/code", ["code": guess.wire])
      #expect(phone.page.status == 422)
    }
    try await phone.open("/")
    try await phone.send("/code", ["code": code])
    #expect(phone.page.status == 429)
    #expect(phone.page.header("retry-after") == "600")
    #expect(phone.page.text.contains("10 minutes"))
    try await phone.open("/D/\(code)")
    try await phone.send("open")
    #expect(phone.page.status == 429)
    var other = PhoneBrowser(viewer)
    try await other.reachApproval(code)
    #expect(other.address == "/D/\(code)/approve")
  }

  @Test func `a browser that guesses does not block other browsers at the same address`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var child = PhoneBrowser(client)
      try await child.guess(0..<5)
      try await child.open("/")
      try await child.send("/code", ["code": code])
      #expect(child.page.status == 429)
      for device in ["box-2", "box-3"] {
        let other = try await newCode(service, client, device: device)
        var phone = PhoneBrowser(client)
        try await phone.open("/")
        try await phone.send("/code", ["code": other])
        #expect(phone.address == "/D/\(other)/provider")
      }
    }
  }

  @Test
  func
    `after sixty wrong codes from one address, only links and signed-in viewers open codes there`()
    async throws
  {
    let service = try await TestService()
    try await withPhone(service) { client in
      var viewer = PhoneBrowser(client)
      try await viewer.signIn()
      // A minute between the browsers keeps the limit for all sources open.
      for phone in 0..<12 {
        var guesser = PhoneBrowser(client)
        try await guesser.guess(phone * 5..<phone * 5 + 5)
        service.clock.pass(.seconds(60))
      }
      let record = try await service.call(client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box-1").json()
      let (code, link) = (try record.string("code"), try record.string("verificationURLComplete"))
      let path = try #require(link.split(separator: "/").last.map { "/D/\($0)" })
      var typing = PhoneBrowser(client)
      try await typing.open("/")
      try await typing.send("/code", ["code": code])
      #expect(typing.page.status == 429)
      // A link with a wrong, missing or incomplete secret counts as a typed code.
      for wrong in ["/D/\(code)", "/D/\(code).00000000", String(path.dropLast(2)), "/D/\(code)."] {
        try await typing.open(wrong)
        try await typing.send("open")
        #expect(typing.page.status == 429, "\(wrong)")
      }
      for scanned in [path, path.lowercased().replacing("/d/", with: "/D/")] {
        var phone = PhoneBrowser(client)
        try await phone.open(scanned)
        try await phone.send("open")
        #expect(phone.address == "/D/\(code)/provider", "\(scanned)")
      }
      try await viewer.open("/")
      try await viewer.send("/code", ["code": code])
      #expect(viewer.address == "/D/\(code)/approve")
      // A pasted link counts as a link.
      var pasting = PhoneBrowser(client)
      try await pasting.open("/")
      try await pasting.send("/code", ["code": link])
      #expect(pasting.address == "/D/\(code)/provider")
      // A jump of the wall clock does not end the block.
      service.clock.setAhead(.seconds(86_400))
      try await typing.open("/")
      try await typing.send("/code", ["code": code])
      #expect(typing.page.status == 429)
    }
  }

  @Test func `a link to a code that does not exist counts as a guess only when its secret is wrong`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      let made = try #require(RegistrationCode(ordinal: 7))
      let path = PagePaths.scanned(ScannedCode(made, service.core.hasher.linkSecret(made))).text
      for _ in 0..<10 {
        try await phone.open(path)
        try await phone.send("open")
        #expect(phone.page.status == 404)
      }
      #expect(service.core.metrics.now[.wrongCodes] == 0)
      try await phone.open("/D/\(made.wire).00000000")
      try await phone.send("open")
      #expect(service.core.metrics.now[.wrongCodes] == 1)
    }
  }

  @Test func `wrong codes on a phone do not block boxes at that address, nor the other way round`()
    async throws
  {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      for number in 0..<5 {
        try await phone.open("/")
        try await phone.send("/code", ["code": try guess(number)])
        #expect(phone.page.status == 422)
      }
      try await phone.open("/D/\(code)")
      try await phone.send("open")
      #expect(phone.page.status == 429)
      let record = "/reggie/v1/REF30/regcode/\(code)"
      let pending: [(path: String, status: UInt16)] = [
        (record, 200), ("\(record)?deviceId=box-1", 200), ("/api/v1/checkauthn/\(code)", 403),
        ("/api/v1/authenticate/\(code)", 404),
      ]
      for (path, status) in pending {
        #expect(try await service.call(client, "GET", path).status == status)
      }
      try await service.approve(code)
      for path in [record, "/api/v1/checkauthn/\(code)", "/api/v1/authenticate/\(code)"] {
        #expect(try await service.call(client, "GET", path).status == 200)
      }
    }
    let other = try await TestService()
    try await withPhone(other) { client in
      let code = try await newCode(other, client)
      for number in 0..<6 {
        let wrong = "/api/v1/authenticate/\(try guess(number))"
        #expect(try await other.call(client, "GET", wrong).status == (number < 5 ? 404 : 429))
      }
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      #expect(phone.address == "/D/\(code)/approve")
    }
  }

  @Test func `guesses from many addresses are slowed down without locking out other viewers`() async throws {
    let service = try await TestService()
    let router = try await service.phoneRouter()
    func phone(_ number: UInt32) -> PhoneBrowser {
      PhoneBrowser(
        InProcessClient(router, peer: .network(IPAddress(ipv4: 0xC633_6400 + number), port: 1)))
    }
    let code = try await newCode(service, phone(0).client)
    for number in 0..<60 {
      var guesser = phone(1 + UInt32(number))
      try await guesser.open("/")
      let guess = try #require(RegistrationCode(ordinal: UInt64(number)))
      try await guesser.send("/code", ["code": guess.wire])
      #expect(guesser.page.status == 422)
    }
    // Each address has guessed once, and none may try again, not even with the right code.
    for number in [1, 30, 60] {
      var guesser = phone(UInt32(number))
      try await guesser.open("/D/\(code)")
      try await guesser.send("open")
      #expect(guesser.page.status == 429)
    }
    var viewer = phone(200)
    try await viewer.reachApproval(code)
    #expect(viewer.address == "/D/\(code)/approve")
  }

  @Test func `input that cannot be a code does not count as a guess`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      for typed in ["", "BCD", "BCDFGHJKL", "BCDFGHJ1", "HELLO", "🙂", "ｂｃｄ"] {
        for _ in 0..<3 {
          try await phone.open("/")
          try await phone.send("/code", ["code": typed])
          #expect(phone.page.status == 422)
        }
      }
      let code = try await newCode(service, client)
      try await phone.open("/")
      try await phone.send("/code", ["code": "https://tv.example.org/D/\(code)?x=1"])
      #expect(phone.address == "/D/\(code)/provider")
    }
  }

  @Test func `the pages of a code reveal nothing to a browser that has not opened it`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var signedIn = PhoneBrowser(client)
      try await signedIn.signIn()
      var opener = PhoneBrowser(client)
      try await opener.open("/D/\(code)")
      try await opener.send("open")
      // A cookie of another browser does not count in this one.
      signedIn.cookies["__Host-regent-codes"] = opener.cookie("codes")
      for wire in [code, "BCDFGHJK"] {
        for step in ["provider", "sign-in", "approve", "number", "result", "wait"] {
          try await signedIn.open("/D/\(wire)/\(step)")
          #expect(signedIn.address == "/D/\(wire)")
          #expect(signedIn.page.status == 200)
        }
      }
    }
  }

  @Test func `an expired code and a used one get their own messages`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client, "&ttl=60")
      let used = try await newCode(service, client, device: "box-2")
      try await service.approve(used)
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(used)")
      try await phone.send("open")
      #expect(phone.page.status == 410)
      #expect(phone.page.text.contains("This code has been used"))
      service.clock.pass(.seconds(60))
      try await phone.open("/D/\(code)")
      try await phone.send("open")
      #expect(phone.page.status == 410)
      try await phone.open("/")
      try await phone.send("/code", ["code": code])
      #expect(phone.page.status == 422)
      #expect(phone.page.text.contains("This code has expired"))
      // An approval after the expiry changes nothing.
      let late = try await phone.post("/D/\(code)/approve", ["csrf": phone.formToken])
      #expect(late.status == 410)
    }
  }
}

extension PhoneBrowser {
  /// Enters codes that do not exist, each of which the service looks up.
  fileprivate mutating func guess(_ numbers: Range<Int>) async throws {
    for number in numbers {
      try await open("/")
      let guess = try #require(RegistrationCode(ordinal: UInt64(number)))
      try await send("/code", ["code": guess.wire])
      #expect(page.status == 422)
    }
  }
}
