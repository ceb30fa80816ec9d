import RegentCryptography
import RegentEncodings
import RegentHTTPCodec
import RegentOAuth
import RegentPairing
import Testing

@Suite("Scopes, code challenges and polling pace") struct GrantTests {
  @Test func `scopes that a client may not have are left out, and none left is an error`() throws {
    let allowed = Scope([.openid, .profile])
    #expect(try Scope.granted("openid entitlements unheard-of", of: allowed) == Scope([.openid]))
    #expect(try Scope.granted(nil, of: allowed) == allowed)
    #expect(refusal { _ = try Scope.granted("entitlements", of: allowed) } == .invalidScope)
    #expect(refusal { _ = try Scope.granted("unheard-of", of: allowed) } == .invalidScope)
    #expect(refusal { _ = try Scope("a\"b") } == .invalidScope)
    #expect(Scope.all.text == "openid profile offline_access entitlements")
  }

  @Test func `a scope is read word by word and written in a fixed order`() throws {
    #expect(try Scope("entitlements  openid openid ").text == "openid entitlements")
    #expect(try Scope(" offline_access openids open profile").names == [.offlineAccess, .profile])
    #expect(try Scope("").isEmpty)
    #expect(try Scope(" nothing ").text == "")
    for number in 0..<16 {
      let names = Scope.Name.allCases.enumerated().filter { number >> $0.offset & 1 == 1 }.map(\.element)
      let text = names.map(\.rawValue).joined(separator: " ")
      let scope = Scope(Set(names))
      #expect(scope.text == text)
      #expect(try Scope(text) == scope)
      #expect(scope.names == Set(names))
      #expect(Scope.Name.allCases.allSatisfy { scope.contains($0) == names.contains($0) })
      #expect(scope.isSubset(of: Scope([.openid, .profile])) == Set(names).isSubset(of: [.openid, .profile]))
    }
    for text in ["openid\u{E9}", "openid\tprofile", "\u{7F}", "a\\", String(repeating: "a", count: 2_049)] {
      #expect(refusal { _ = try Scope(text) } == .invalidScope)
    }
  }

  @Test func `a refresh can narrow the scope and never widen it`() throws {
    let granted = Scope([.openid, .entitlements])
    #expect(try granted.narrowed(to: nil) == granted)
    #expect(try granted.narrowed(to: "openid") == Scope([.openid]))
    #expect(refusal { _ = try granted.narrowed(to: "openid profile") } == .invalidScope)
    #expect(refusal { _ = try granted.narrowed(to: "nothing") } == .invalidScope)
  }

  @Test func `a code is redeemed only with the verifier of its challenge`() throws {
    // The example of RFC 7636, appendix B.
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let challenge = try #require(CodeChallenge(kept: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"))
    try CodeChallenge.check(challenge, verifier)
    try CodeChallenge.check(nil, nil)
    #expect(refusal { try CodeChallenge.check(challenge, nil) } == .invalidRequest)
    #expect(refusal { try CodeChallenge.check(nil, verifier) } == .invalidGrant)
    #expect(refusal { try CodeChallenge.check(challenge, String(verifier.dropLast())) } == .invalidGrant)
    #expect(refusal { try CodeChallenge.check(challenge, "e" + verifier.dropFirst()) } == .invalidGrant)
  }

  @Test(arguments: [
    "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=plain",
    "code_challenge=short&code_challenge_method=S256", "code_challenge_method=S256",
  ])
  func `a code challenge that is not an S256 hash is refused`(_ body: String) {
    #expect(
      refusal { _ = try CodeChallenge.read(OAuthParameters(FormParameters(encoded: body.utf8.span))) }
        == .invalidRequest)
  }

  @Test func `polling every five seconds with one second of jitter is never too fast, every two seconds always is`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<1000 {
      var pace = PollPace()
      var now = Uptime(milliseconds: 1_000_000)
      for _ in 0..<120 {
        let isTooEarly = pace.isTooEarly(at: now)
        #expect(!isTooEarly)
        // Network jitter: each poll is up to a second late, and the client counts five seconds from its own clock.
        now = now + .milliseconds(Int64.random(in: 4_000...6_000, using: &random))
      }
    }
    var pace = PollPace()
    var now = Uptime(milliseconds: 0)
    let first = pace.isTooEarly(at: now)
    #expect(!first)
    for _ in 0..<300 {
      now = now + .seconds(2)
      let isTooEarly = pace.isTooEarly(at: now)
      #expect(isTooEarly)
    }
    // After a pause of ten seconds the client is accepted at once.
    let slower = pace.isTooEarly(at: now + .seconds(10))
    #expect(!slower)
  }

  @Test func `after a long poll the next poll may come at once`() {
    var pace = PollPace()
    let first = pace.isTooEarly(at: Uptime(milliseconds: 0))
    pace.wasHeld()
    let afterHeld = pace.isTooEarly(at: Uptime(milliseconds: 1))
    let atOnce = pace.isTooEarly(at: Uptime(milliseconds: 2))
    #expect([first, afterHeld, atOnce] == [false, false, true])
  }
}

@Suite("Refresh tokens") struct RefreshFamilyTests {
  private func family(_ generation: Int64 = 3, thumbprint: String? = nil) -> RefreshFamily {
    RefreshFamily(
      generation: generation, rotated: at(100), created: at(0), thumbprint: thumbprint, idle: .seconds(1000),
      absolute: .seconds(5000))
  }

  private func at(_ seconds: Int64) -> Instant { Instant(milliseconds: 1_000_000_000 + seconds * 1000) }

  @Test
  func `the current refresh token rotates, the previous one may repeat for a minute, and any other counts as stolen`() {
    #expect(family().verdict(on: 3, key: nil, at: at(200)) == .rotate)
    #expect(family().verdict(on: 2, key: nil, at: at(160)) == .again)
    #expect(family().verdict(on: 2, key: nil, at: at(161)) == .stolen)
    #expect(family().verdict(on: 1, key: nil, at: at(101)) == .stolen)
    #expect(family().verdict(on: 4, key: nil, at: at(101)) == .unknown)
    #expect(family().verdict(on: -1, key: nil, at: at(101)) == .unknown)
    #expect(family(.max).verdict(on: .max, key: nil, at: at(101)) == .rotate)
    #expect(family(0).verdict(on: 0, key: nil, at: at(101)) == .rotate)
  }

  @Test func `a key-bound refresh token may repeat longer, and without its key a request has no effect`() {
    let bound = family(thumbprint: "k")
    #expect(bound.verdict(on: 2, key: "k", at: at(700)) == .again)
    #expect(bound.verdict(on: 2, key: "k", at: at(701)) == .stolen)
    for shown: Int64 in 0...3 {
      #expect(bound.verdict(on: shown, key: nil, at: at(9000)) == .wrongKey)
      #expect(bound.verdict(on: shown, key: "other", at: at(101)) == .wrongKey)
    }
  }

  @Test func `a refresh token family ends when it is unused too long, and at its absolute lifetime`() {
    #expect(family().verdict(on: 3, key: nil, at: at(1099)) == .rotate)
    #expect(family().verdict(on: 3, key: nil, at: at(1100)) == .over)
    var used = family()
    used.rotated = at(4900)
    #expect(used.verdict(on: 3, key: nil, at: at(4999)) == .rotate)
    #expect(used.verdict(on: 3, key: nil, at: at(5000)) == .over)
  }

  @Test func `a clock that was set back neither ends a refresh token family nor reports theft`() {
    #expect(family().verdict(on: 3, key: nil, at: at(-500_000)) == .rotate)
    #expect(family().verdict(on: 2, key: nil, at: at(-500_000)) == .again)
  }
}
