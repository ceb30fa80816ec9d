import TestSupport
import RegentPairing
import Testing

@Suite struct `Rules for signed calls` {
  private let owner: RequestorID

  init() throws {
    owner = try name("REF30")
  }

  private func call(
    method: String = "GET", uri: String = "/tokens/authn", requestor: String = "REF30",
    by signature: SignatureMethod = .hmacSHA1, at time: Instant = at(0)
  ) throws -> SignedCall {
    let text = Array((method + "n" + uri).utf8)
    let nonce = method.utf8.count..<(method.utf8.count + 1)
    return SignedCall(
      signedText: text,
      SignedCall.Places(
        method: 0..<nonce.lowerBound, nonce: nonce, requestTime: nonce, requestURI: nonce.upperBound..<text.count),
      requestor: try name(requestor), signatureMethod: signature, requestTime: time,
      publicKey: try name("k"), signature: [])
  }

  private func verdict(
    _ policy: SignaturePolicy, _ call: SignedCall, method: String = "GET",
    path: String = "/api/v1/tokens/authn", at now: Instant = at(0)
  ) -> SignatureRefusal? {
    do throws(SignatureRefusal) {
      try policy.check(call, owner: owner, method: method, path: Array(path.utf8), at: now)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("/api/v1/tokens/authn", nil), ("/tokens/authn", nil), ("/authn", nil),
    ("/tokens/authn?requestor=REF30", nil), ("tokens/authn", SignatureRefusal.otherPath),
    ("/tokens/authz", .otherPath), ("okens/authn", .otherPath), ("", .otherPath),
    ("/", .otherPath), ("/x/api/v1/tokens/authn", .otherPath), ("/tokens/authn/", .otherPath),
    ("https://host/api/v1/tokens/authn", .otherPath), ("?/tokens/authn", .otherPath),
  ])
  func `the standard policy accepts the call's path or the end of it as the signed path`(
    uri: String, refusal: SignatureRefusal?
  ) throws {
    #expect(verdict(.standard, try call(uri: uri)) == refusal)
  }

  @Test func `the standard policy accepts a signed path without the format suffix`() throws {
    let path = "/reggie/v1/REF30/regcode.json"
    #expect(verdict(.standard, try call(uri: "/regcode"), path: path) == nil)
    #expect(verdict(.standard, try call(uri: "/regcode.json"), path: path) == nil)
    #expect(verdict(.standard, try call(uri: "/regcode.xml"), path: path) == .otherPath)
  }

  @Test(arguments: SignaturePolicy.allCases)
  func `every policy refuses a call older or newer than five minutes or signed for another requestor`(
    policy: SignaturePolicy
  ) throws {
    func signed(_ seconds: Int) throws -> SignedCall {
      try call(uri: "/api/v1/tokens/authn", by: .hmacSHA256, at: at(seconds))
    }
    #expect(verdict(policy, try signed(-300)) == nil)
    #expect(verdict(policy, try signed(300)) == nil)
    #expect(verdict(policy, try signed(-301)) == .outsideWindow)
    #expect(verdict(policy, try signed(301)) == .outsideWindow)
    // A time in seconds where milliseconds are expected.
    let seconds = Instant(milliseconds: 1_700_000_000)
    #expect(verdict(policy, try call(at: seconds)) == .outsideWindow)
    #expect(verdict(policy, try call(at: Instant(milliseconds: .max))) == .outsideWindow)
    #expect(verdict(policy, try call(at: Instant(milliseconds: .min))) == .outsideWindow)
    #expect(verdict(policy, try call(requestor: "OTHER")) == .wrongRequestor)
  }

  @Test func `the strict policy requires SHA-256, the whole path and the right method`() throws {
    let whole = "/api/v1/tokens/authn"
    #expect(verdict(.strict, try call(uri: whole, by: .hmacSHA256)) == nil)
    #expect(verdict(.strict, try call(uri: whole)) == .weakMethod)
    #expect(verdict(.strict, try call(by: .hmacSHA256)) == .otherPath)
    #expect(verdict(.strict, try call(uri: whole, by: .hmacSHA256), method: "POST") == .otherMethod)
  }

  @Test func `the compatible policy accepts a signature made for another path and method`() throws {
    let reused = try call(method: "POST", uri: "/regcode")
    #expect(verdict(.compatible, reused) == nil)
    #expect(verdict(.standard, reused) == .otherMethod)
    #expect(!SignaturePolicy.compatible.remembersNonces)
    #expect(SignaturePolicy.standard.remembersNonces && SignaturePolicy.strict.remembersNonces)
  }
}

@Suite struct `The replay window for signed calls` {
  private func verdict(_ window: inout ReplayWindow, _ nonce: UInt64, _ signed: Int, _ now: Int)
    -> SignatureRefusal?
  {
    do throws(SignatureRefusal) {
      try window.accept(nonce: nonce, signedAt: at(signed), at: at(now))
      return nil
    } catch {
      return error
    }
  }

  @Test func `a nonce is accepted once, whatever time it claims`() {
    var window = ReplayWindow(startingAt: at(-1000))
    #expect(verdict(&window, 1, 0, 0) == nil)
    #expect(verdict(&window, 1, 0, 0) == .replayed)
    #expect(verdict(&window, 1, 7, 1) == .replayed)
    #expect(verdict(&window, 2, 0, 299) == nil)
    #expect(verdict(&window, 1, 0, 300) == .replayed)
    #expect(verdict(&window, 1, 0, 301) == .outsideWindow)
  }

  @Test func `after the clock is set back new calls are accepted and no replay is`() {
    // The clock was ahead at the start, for example without a clock battery.
    var early = ReplayWindow(startingAt: at(3600))
    #expect(verdict(&early, 1, 10, 10) == nil)
    #expect(verdict(&early, 1, 10, 11) == .replayed)

    var window = ReplayWindow(startingAt: at(0))
    #expect(verdict(&window, 1, 100, 100) == nil)
    #expect(verdict(&window, 2, 3700, 3700) == nil)
    // Nonce 1 has been forgotten, so that its time must stay closed.
    #expect(verdict(&window, 1, 100, 110) == .outsideWindow)
    #expect(verdict(&window, 3, 110, 110) == nil)
    #expect(verdict(&window, 3, 110, 111) == .replayed)
    // Nonce 2 is still remembered.
    #expect(verdict(&window, 2, 3700, 3700) == .replayed)
    // A call accepted after the clock was set back cannot be replayed long after its five minutes, either.
    for second in 3701...4400 { _ = verdict(&window, 10_000 + UInt64(second), second, second) }
    #expect(verdict(&window, 13_800, 3_800, 3_800) == .replayed)
    #expect(verdict(&window, 9, 4_399, 4_400) == nil)
    // Threads may present their clock readings in any order.
    #expect(verdict(&window, 4, 4_399, 4_399) == nil)
    #expect(verdict(&window, 5, 4_399, 4_398) == nil)
  }

  @Test func `a call signed before the window's start is refused`() {
    var window = ReplayWindow(startingAt: at(0))
    #expect(verdict(&window, 1, -1, 1) == .outsideWindow)
    #expect(verdict(&window, 1, 0, 1) == nil)
  }

  @Test func `a full window closes its oldest second and forgets no nonce that it still accepts`() {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 10)
    for nonce in 0..<10 { #expect(verdict(&window, UInt64(nonce), nonce, 20) == nil) }
    #expect(verdict(&window, 100, 20, 20) == nil)
    // Second 0 was closed: its calls are refused, whether seen before or not.
    #expect(verdict(&window, 0, 0, 20) == .outsideWindow)
    #expect(verdict(&window, 200, 0, 20) == .outsideWindow)
    for nonce in 1..<10 { #expect(verdict(&window, UInt64(nonce), nonce, 20) == .replayed) }
  }

  @Test func `a window filled by one second refuses new calls and never closes the present time`() {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 3)
    for nonce in 0..<3 { #expect(verdict(&window, UInt64(nonce), 5, 5) == nil) }
    #expect(verdict(&window, 3, 5, 5) == .tooMany)
    #expect(verdict(&window, 0, 5, 5) == .replayed)
    #expect(verdict(&window, 4, 6, 6) == .tooMany)
    // That second is closed once it is no longer close to the present.
    #expect(verdict(&window, 4, 9, 9) == nil)
    #expect(verdict(&window, 0, 5, 9) == .outsideWindow)
  }

  @Test(arguments: [-290, -20, 0, 3, 4, 60, 297])
  func `one source that floods the window with calls for any second does not block other sources`(lead: Int) {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 4096)
    var nonce: UInt64 = 0
    func call(_ source: UInt64, _ signed: Int, _ now: Int) -> SignatureRefusal? {
      nonce += 1
      do throws(SignatureRefusal) {
        try window.accept(nonce: nonce, from: source, signedAt: at(signed), at: at(now))
        return nil
      } catch {
        return error
      }
    }
    for now in 0..<40 {
      var refusals = 0
      for _ in 0..<3000 where call(7, now + lead, now) != nil { refusals += 1 }
      #expect(refusals > 0 || now < 9)
      // The clocks of honest boxes differ a little.
      for source in 100..<110 { #expect(call(UInt64(source), now + source % 3, now) == nil) }
      #expect(window.count <= 4096)
    }
  }

  @Test func `a flood from many sources with future times leaves room for present times`() {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 4096)
    var accepted = 0
    for nonce in 0..<100_000 {
      do throws(SignatureRefusal) {
        try window.accept(
          nonce: UInt64(nonce), from: UInt64(nonce % 5000), signedAt: at(4 + nonce % 296), at: at(0))
        accepted += 1
      } catch {
        #expect(error == .outsideWindow)
      }
    }
    #expect(accepted == 256)
    for nonce in 200_000..<202_000 {
      #expect(verdict(&window, UInt64(nonce), nonce % 3, 0) == nil)
    }
  }

  @Test(arguments: [12, 1000, 10_000])
  func `after a clock that was ahead is set back, calls are accepted at once and replays are refused`(span: Int) {
    // One hour with the right time, then `span` seconds with the clock ten thousand seconds ahead.
    var window = ReplayWindow(startingAt: at(0), capacity: 4096)
    var used: [(nonce: UInt64, signed: Int)] = []
    func call(_ signed: Int, _ now: Int) -> SignatureRefusal? {
      used.append((UInt64(used.count), signed))
      return verdict(&window, UInt64(used.count - 1), signed, now)
    }
    for now in stride(from: 0, to: 3600, by: 60) { #expect(call(now, now) == nil) }
    for now in stride(from: 13_600, to: 13_600 + span, by: 60) { #expect(call(now, now) == nil) }
    let (first, back) = (used, 3600 + span)
    for now in back..<back + 600 {
      if now % 7 == 0 { #expect(call(now + now % 3, now) == nil) }
      for (nonce, signed) in first { #expect(verdict(&window, nonce, signed, now) != nil) }
    }
    // Replays are refused also when the clock reaches the times that it showed too early.
    for now in stride(from: 13_300, to: 13_900 + span, by: 60) {
      for (nonce, signed) in first { #expect(verdict(&window, nonce, signed, now) != nil) }
    }
  }

  @Test func `a window that has forgotten nonces says until which time it refuses calls`() {
    var window = ReplayWindow(startingAt: at(0), capacity: 80)
    for second in 0..<2000 { #expect(verdict(&window, UInt64(second), second, second) == nil) }
    #expect(window.closedUntil == nil)
    // The clock is set back by 1,000 s, to times whose nonces are forgotten.
    #expect(verdict(&window, 9000, 1000, 1000) == .outsideWindow)
    let end = (window.closedUntil?.second ?? 0) - at(0).second
    #expect(end > 1500 && end <= 2000)
    #expect(verdict(&window, 9001, Int(end), Int(end)) == nil)
    #expect(window.closedUntil == nil)
  }

  @Test func `a full window has room again when time has passed`() {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 3)
    for nonce in 0..<3 { #expect(verdict(&window, UInt64(nonce), 0, 0) == nil) }
    for nonce in 3..<6 { #expect(verdict(&window, UInt64(nonce), 400, 400) == nil) }
    // A jump ahead by years must not cause a long loop, and a jump back must forget nothing.
    #expect(verdict(&window, 7, 1_000_000_000, 1_000_000_000) == nil)
    #expect(verdict(&window, 7, 400, 400) == .outsideWindow)
  }

  @Test func `no random order of calls lets a replay through`() {
    var generator = SeededGenerator(state: 6)
    var window = ReplayWindow(startingAt: at(0), capacity: 50)
    var accepted: Set<UInt64> = []
    var now = 0
    for _ in 0..<5000 {
      now += Int.random(in: 0...2, using: &generator)
      let nonce = UInt64.random(in: 0..<400, using: &generator)
      // Nonce and time are signed together, so that a replay has the same time.
      let signed = Int(nonce) * 10
      guard verdict(&window, nonce, signed, now) == nil else { continue }
      #expect(accepted.insert(nonce).inserted)
    }
    #expect(accepted.count > 100)
  }
}
