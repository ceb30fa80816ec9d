import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `App sign-ins through the box` {
  private func withStage(_ body: (inout PlatformStage) async throws -> Void) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      var stage = try await PlatformStage(client, service)
      try await body(&stage)
    }
  }

  @Test func `a box assertion signs an app in, and the end of the box sign-in ends the app sign-in`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 404)
      let answer = try await stage.exchange(try stage.word(try await stage.request()))
      #expect(answer.status == 204 && answer.text.isEmpty)
      let signedIn = try await stage.asApp("GET", "/api/v1/tokens/authn")
      #expect(signedIn.status == 200)
      #expect(signedIn.header("ap-decision-source") == "platform")
      let again = try stage.word(try await stage.request())
      let atOnce = try await stage.exchange(again, headers: [("Prefer", "return=representation")])
      #expect(atOnce.status == 200 && atOnce.text == signedIn.text)
      #expect(atOnce.header("ap-decision-source") == "platform")
      #expect(atOnce.header("preference-applied") == "return=representation")
      let ofBox = try await stage.asBox("GET", "/api/v1/tokens/authn")
      #expect(ofBox.status == 200 && ofBox.header("ap-decision-source") == nil)
      #expect(try signedIn.json().string("mvpd") == Sample.provider)
      let child = try #require(
        try await stage.service.core.store.authentications(
          AuthenticationFilter(requestor: try named(Sample.requestor)), after: nil, limit: 2,
          at: stage.service.core.clock.now
        ).first)
      #expect(child.authentication.source == .platform && child.authentication.parent?.app == "kodi")
      #expect(try await stage.asBox("DELETE", "/api/v1/logout").status == 204)
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
    }
  }

  @Test func `an assertion with any wrong part is refused and does not use up the request`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let request = try await stage.request()
      let stranger = try SigningKey.generate(.edDSA)
      let other = try SigningKey.generate(.es256)
      let now = stage.service.core.clock.now
      #expect(try await stage.verdict(try stage.word(request, key: stranger)) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, key: other)) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, box: "nobody")) == "parent")
      #expect(try await stage.verdict(try stage.word(request, box: "nobody", keyID: stage.box)) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, provider: Sample.pass)) == "assertion")
      #expect(try await stage.verdict(try stage.word(request), provider: Sample.pass) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, audience: "https://other.example")) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, issued: now - .milliseconds(60_001))) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, issued: now + .seconds(61))) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, app: "\u{1B}[2J")) == "assertion")
      #expect(try await stage.verdict(try stage.word(request, type: "JWT")) == "assertion")
      #expect(try await stage.verdict(try stage.word(request), device: "app-2") == "assertion")
      #expect(try await stage.verdict(try stage.word(try await stage.request(device: "app-2"))) == "assertion")
      #expect(try await stage.verdict(try stage.word(request + "x")) == "assertion")
      #expect(try await stage.verdict(try stage.word("e30.e30.AA")) == "assertion")
      for text in ["", "a.b.c", "e30.e30.", String(repeating: "A", count: 20_000), "<samlp:Response/>"]
      where !text.isEmpty {
        #expect(try await stage.verdict(text) == "assertion")
      }
      // The refused attempts have not used up the request.
      #expect(try await stage.verdict(try stage.word(request)) == "204")
      #expect(try await stage.verdict(try stage.word(request)) == "used")
    }
  }

  @Test func `assertions with the algorithm none, or with HMAC keyed by the public key, are refused`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let request = try await stage.request()
      let good = try stage.word(request).split(separator: ".").map(String.init)
      for (algorithm, signature) in [("none", ""), ("HS256", "x")] {
        let header: JSONObject = [
          "alg": .string(algorithm), "typ": "platform-assertion+jwt", "kid": .string(stage.box),
        ]
        let text = Base64URL.encode(header.bytes()) + "." + good[1]
        let code = try HMACKey(.sha256, Secret(copying: stage.key.publicKey.spki)).code(text)
        let word = text + "." + (signature.isEmpty ? "" : Base64URL.encode(code))
        #expect(try await stage.verdict(word) == "assertion", "\(algorithm)")
      }
    }
  }

  @Test func `64 concurrent exchanges of one assertion make one sign-in`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let word = try stage.word(try await stage.request())
      let here = stage
      let verdicts = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<64 { group.addTask { try await here.verdict(word) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(verdicts.count { $0 == "204" } == 1)
      #expect(verdicts.count { $0 == "used" } == 63)
      let rows = try await stage.service.core.store.authentications(
        AuthenticationFilter(requestor: try named(Sample.requestor)), after: nil, limit: 100,
        at: stage.service.core.clock.now)
      #expect(rows.count == 1)
    }
  }

  @Test func `an assertion of a box with a wrong clock is valid for a minute`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let now = stage.service.core.clock.now
      let clocks: [Instant] = [Instant(milliseconds: 0), now + .seconds(86_400), now - .seconds(86_400)]
      for (number, clock) in clocks.enumerated() {
        let device = "app-\(number)"
        let request = try await stage.request(device: device)
        let asked = try #require(ProfileRequest(unverified: request))
        let word = try stage.word(request, issued: PlatformAssertion.issued(at: clock, for: asked))
        stage.service.clock.pass(.seconds(59))
        #expect(try await stage.verdict(word, device: device) == "204")
        let late = try await stage.request(device: device)
        let askedLate = try #require(ProfileRequest(unverified: late))
        let lateWord = try stage.word(late, issued: PlatformAssertion.issued(at: clock, for: askedLate))
        stage.service.clock.pass(.seconds(61))
        #expect(try await stage.verdict(lateWord, device: device) == "assertion")
      }
    }
  }

  @Test func `an app sign-in request expires after ten minutes`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let early = try await stage.request()
      let late = try await stage.request()
      stage.service.clock.pass(.seconds(599))
      #expect(try await stage.verdict(try stage.word(early)) == "204")
      stage.service.clock.pass(.seconds(1))
      #expect(try await stage.verdict(try stage.word(late)) == "assertion")
    }
  }

  @Test func `a disabled integration refuses the request and the exchange with its reason`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let request = try await stage.request()
      for (change, reason) in [
        ({ $0.singleSignOn = false }, "sso"), ({ $0.degradation = .authorizeEverybody }, "degraded"),
        ({ $0.enabled = false }, "integration"),
      ] as [((inout Integration) -> Void, String)] {
        try await stage.change(change)
        let asked = try await stage.asApp("GET", "/api/v1/REF30/profile-requests/local")
        #expect(asked.status == 400)
        #expect(try asked.json().string("details") == reason)
        #expect(try await stage.verdict(try stage.word(request)) == reason)
        try await stage.change {
          $0.singleSignOn = true
          $0.degradation = nil
          $0.enabled = true
        }
      }
      #expect(try await stage.verdict(try stage.word(request)) == "204")
    }
  }

  @Test func `a denial by the viewer ends the app sign-in and refuses new ones`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      #expect(try await stage.decide("denied") == 204)
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "permission")
      #expect(try await stage.decide("granted") == 204)
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 200)
      #expect(try await stage.decide("perhaps") == 400)
    }
  }

  @Test func `a box that reports many decisions is limited, and can report again later`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let before = try await stage.service.core.store.newestAuditNumber()
      var statuses: [UInt16: Int] = [:]
      for number in 0..<130 {
        statuses[try await stage.decide(number.isMultiple(of: 2) ? "denied" : "granted"), default: 0] += 1
      }
      // The enrolment of the key was the first request that counts.
      #expect(statuses == [204: 99, 429: 31])
      try await stage.service.auditIsWritten()
      #expect(try await stage.service.core.store.newestAuditNumber() - before <= 100)
      stage.service.clock.pass(.seconds(1))
      #expect(try await stage.decide("denied") == 204)
      let key = [("publicKey", Base64.encode(stage.key.publicKey.spki))]
      #expect(try await stage.asBox("POST", Paths.platformKey, key).status == 429)
    }
  }

  @Test func `a box that invents apps and devices gets one new sign-in a second after the first hundred`() async throws
  {
    try await withStage { (stage: inout PlatformStage) async throws in
      func verdict(_ number: Int, _ stage: PlatformStage) async throws -> String {
        let device = "made-up-\(number)"
        return try await stage.verdict(
          try stage.word(try await stage.request(device: device), app: "app-\(number)"), device: device)
      }
      var statuses: [String: Int] = [:]
      for number in 0..<110 { statuses[try await verdict(number, stage), default: 0] += 1 }
      #expect(statuses == ["204": 100, "429": 10])
      stage.service.clock.pass(.seconds(1))
      #expect(try await verdict(110, stage) == "204")
    }
  }

  @Test func `an assertion from before a new box sign-in is refused`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let before = try stage.word(try await stage.request())
      try await stage.signInBox()
      #expect(try await stage.verdict(before) == "parent")
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
    }
  }

  @Test func `only the requestor of the box maker may enrol keys and report decisions, for a signed-in box`()
    async throws
  {
    try await withStage { (stage: inout PlatformStage) async throws in
      let key = [("publicKey", Base64.encode(stage.key.publicKey.spki))]
      #expect(try await stage.asApp("POST", Paths.platformKey, key).status == 403)
      #expect(
        try await stage.asApp(
          "POST", Paths.platformPermission,
          [("app", "kodi"), ("appRequestor", Sample.requestor), ("permission", "granted")]
        ).status == 403)
      for text in ["", "AAAA", Base64.encode(try SigningKey.generate(.es256).publicKey.spki)] where !text.isEmpty {
        #expect(try await stage.asBox("POST", Paths.platformKey, [("publicKey", text)]).status == 400)
      }
      #expect(try await stage.asBox("DELETE", "/api/v1/logout").status == 204)
      #expect(try await stage.asBox("POST", Paths.platformKey, key).status == 412)
    }
  }
}
