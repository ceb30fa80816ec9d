import RegentPairing
import Testing

@Suite struct `Signed calls` {
  private let owner: RequestorID

  init() throws {
    owner = try name("REF30")
  }

  private func call(
    method: String = "GET", uri: String = "/tokens/authn", requestor: String = "REF30",
    by signature: SignatureMethod = .hmacSHA1, at time: Instant = at(0)
  ) throws -> SignedCall {
    SignedCall(
      method: method, requestor: try name(requestor), nonce: "n", signatureMethod: signature,
      requestTime: time, requestURI: uri, publicKey: try name("k"), signature: [], signedText: [])
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
  func `by the standard sign their path or its end`(uri: String, refusal: SignatureRefusal?) throws {
    #expect(verdict(.standard, try call(uri: uri)) == refusal)
  }

  @Test func `by the standard may leave the format's suffix out`() throws {
    let path = "/reggie/v1/REF30/regcode.json"
    #expect(verdict(.standard, try call(uri: "/regcode"), path: path) == nil)
    #expect(verdict(.standard, try call(uri: "/regcode.json"), path: path) == nil)
    #expect(verdict(.standard, try call(uri: "/regcode.xml"), path: path) == .otherPath)
  }

  @Test(arguments: SignaturePolicy.allCases)
  func `are refused outside five minutes, under another's key`(policy: SignaturePolicy) throws {
    func signed(_ seconds: Int) throws -> SignedCall {
      try call(uri: "/api/v1/tokens/authn", by: .hmacSHA256, at: at(seconds))
    }
    #expect(verdict(policy, try signed(-300)) == nil)
    #expect(verdict(policy, try signed(300)) == nil)
    #expect(verdict(policy, try signed(-301)) == .outsideWindow)
    #expect(verdict(policy, try signed(301)) == .outsideWindow)
    // Seconds where milliseconds belong.
    let seconds = Instant(milliseconds: 1_700_000_000)
    #expect(verdict(policy, try call(at: seconds)) == .outsideWindow)
    #expect(verdict(policy, try call(at: Instant(milliseconds: .max))) == .outsideWindow)
    #expect(verdict(policy, try call(at: Instant(milliseconds: .min))) == .outsideWindow)
    #expect(verdict(policy, try call(requestor: "OTHER")) == .wrongRequestor)
  }

  @Test func `by the strict policy sign everything with SHA-256`() throws {
    let whole = "/api/v1/tokens/authn"
    #expect(verdict(.strict, try call(uri: whole, by: .hmacSHA256)) == nil)
    #expect(verdict(.strict, try call(uri: whole)) == .weakMethod)
    #expect(verdict(.strict, try call(by: .hmacSHA256)) == .otherPath)
    #expect(verdict(.strict, try call(uri: whole, by: .hmacSHA256), method: "POST") == .otherMethod)
  }

  @Test func `by the compatible policy may be reused elsewhere`() throws {
    let reused = try call(method: "POST", uri: "/regcode")
    #expect(verdict(.compatible, reused) == nil)
    #expect(verdict(.standard, reused) == .otherMethod)
    #expect(!SignaturePolicy.compatible.remembersNonces)
    #expect(SignaturePolicy.standard.remembersNonces && SignaturePolicy.strict.remembersNonces)
  }
}

@Suite struct `The replay window` {
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

  @Test func `takes each nonce once, whatever time it claims`() {
    var window = ReplayWindow(startingAt: at(-1000))
    #expect(verdict(&window, 1, 0, 0) == nil)
    #expect(verdict(&window, 1, 0, 0) == .replayed)
    #expect(verdict(&window, 1, 7, 1) == .replayed)
    #expect(verdict(&window, 2, 0, 299) == nil)
    #expect(verdict(&window, 1, 0, 300) == .replayed)
    #expect(verdict(&window, 1, 0, 301) == .outsideWindow)
  }

  @Test func `goes on at the time of a clock that was set back, and takes no replay`() {
    // Ahead at the start, for example for want of a battery.
    var early = ReplayWindow(startingAt: at(3600))
    #expect(verdict(&early, 1, 10, 10) == nil)
    #expect(verdict(&early, 1, 10, 11) == .replayed)

    var window = ReplayWindow(startingAt: at(0))
    #expect(verdict(&window, 1, 100, 100) == nil)
    #expect(verdict(&window, 2, 3700, 3700) == nil)
    // Nonce 1 is forgotten: its time must not come back.
    #expect(verdict(&window, 1, 100, 110) == .outsideWindow)
    #expect(verdict(&window, 3, 110, 110) == nil)
    #expect(verdict(&window, 3, 110, 111) == .replayed)
    // Nonce 2 is not.
    #expect(verdict(&window, 2, 3700, 3700) == .replayed)
    // Nor can what was accepted meanwhile and forgotten come once more.
    for second in 3701...4400 { _ = verdict(&window, 10_000 + UInt64(second), second, second) }
    #expect(verdict(&window, 13_800, 3_800, 3_800) == .outsideWindow)
    #expect(verdict(&window, 9, 4_399, 4_400) == nil)
    // Threads look at the clock in any order.
    #expect(verdict(&window, 4, 4_399, 4_399) == nil)
    #expect(verdict(&window, 5, 4_399, 4_398) == nil)
  }

  @Test func `refuses what was signed before the start`() {
    var window = ReplayWindow(startingAt: at(0))
    #expect(verdict(&window, 1, -1, 1) == .outsideWindow)
    #expect(verdict(&window, 1, 0, 1) == nil)
  }

  @Test func `shrinks when it is full, and never forgets`() {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 10)
    for nonce in 0..<10 { #expect(verdict(&window, UInt64(nonce), nonce, 20) == nil) }
    #expect(verdict(&window, 100, 20, 20) == nil)
    // Second 0 went: its headers are refused, seen or not.
    #expect(verdict(&window, 0, 0, 20) == .outsideWindow)
    #expect(verdict(&window, 200, 0, 20) == .outsideWindow)
    for nonce in 1..<10 { #expect(verdict(&window, UInt64(nonce), nonce, 20) == .replayed) }
  }

  @Test func `refuses rather than forgets when one second fills it`() {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 3)
    for nonce in 0..<3 { #expect(verdict(&window, UInt64(nonce), 5, 5) == nil) }
    #expect(verdict(&window, 3, 5, 5) == .outsideWindow)
    #expect(verdict(&window, 0, 5, 5) == .outsideWindow)
    #expect(verdict(&window, 4, 6, 6) == nil)
  }

  @Test func `has room again when time has passed`() {
    var window = ReplayWindow(startingAt: at(-1000), capacity: 3)
    for nonce in 0..<3 { #expect(verdict(&window, UInt64(nonce), 0, 0) == nil) }
    for nonce in 3..<6 { #expect(verdict(&window, UInt64(nonce), 400, 400) == nil) }
    // A clock that jumps ahead by years is no long loop, and one that jumps back forgets nothing.
    #expect(verdict(&window, 7, 1_000_000_000, 1_000_000_000) == nil)
    #expect(verdict(&window, 7, 400, 400) == .outsideWindow)
  }

  @Test func `takes no replay in any random order`() {
    var generator = SeededGenerator(state: 6)
    var window = ReplayWindow(startingAt: at(0), capacity: 50)
    var accepted: Set<UInt64> = []
    var now = 0
    for _ in 0..<5000 {
      now += Int.random(in: 0...2, using: &generator)
      let nonce = UInt64.random(in: 0..<400, using: &generator)
      // A header is one piece: its time goes with its nonce.
      let signed = Int(nonce) * 10
      guard verdict(&window, nonce, signed, now) == nil else { continue }
      #expect(accepted.insert(nonce).inserted)
    }
    #expect(accepted.count > 100)
  }
}
