import PairingStore
import PairingStoreMemory
import RegentHTTPCodec
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

/// A store of several nodes that gives no password out before the test says so: all tries are under way together.
private final class HeldPasswordsStore: ForwardingStore {
  let target: any Store = MemoryStore(isShared: true)
  let held = Locked(0)
  let isOpen = Locked(true)

  func password(of account: AccountName, at provider: ProviderID) async throws(StoreError) -> String? {
    held.withLock { $0 += 1 }
    _ = try? await eventually("the test to let it go on") { isOpen.withLock { $0 } ? true : nil }
    held.withLock { $0 -= 1 }
    return try await target.password(of: account, at: provider)
  }
}

/// Three nodes on one store, each of which knows of the others.
private struct ThreeNodes: Sendable {
  let store = HeldPasswordsStore()
  let services: [TestService]
  let checks: [SignInCheck]
  let address = IPAddress(ipv4: 0xCB00_7101)

  init() async throws {
    let first = try await TestService(on: store, options: { $0.node = NodeID("a") })
    services = [
      first, try await TestService(joining: first, as: "b"), try await TestService(joining: first, as: "c"),
    ]
    for service in services { service.core.limits.divide(among: 3) }
    checks = services.map { SignInCheck($0.core) }
  }

  /// What nodes in turn say to passwords that are all under way at once.
  func together(_ passwords: [String]) async throws -> [SignInCheck.Verdict] {
    store.isOpen.withLock { $0 = false }
    let answered = Locked(0)
    let tries = passwords.enumerated().map { [self] place, password in
      Task { @Sendable () async throws -> SignInCheck.Verdict in
        defer { answered.withLock { $0 += 1 } }
        return try await one(password, at: place % checks.count)
      }
    }
    try await eventually("all to be under way, or answered") {
      store.held.withLock { $0 } + answered.withLock { $0 } == passwords.count ? true : nil
    }
    store.isOpen.withLock { $0 = true }
    var verdicts: [SignInCheck.Verdict] = []
    for one in tries { verdicts.append(try await one.value) }
    return verdicts
  }

  func one(_ password: String, at place: Int) async throws -> SignInCheck.Verdict {
    try await checks[place].verify(Sample.account, password, at: try named(Sample.provider), from: address)
  }

  func isRight(_ password: String, at place: Int) async throws -> Bool {
    if case .right = try await one(password, at: place) { true } else { false }
  }

  func failures(_ subject: LoginSubject) async throws -> Int? {
    try await store.loginFailures(of: subject)?.count
  }

  /// Lets so much time pass as the account has to wait.
  func pause() async throws {
    let wait = LoginThrottle.pause(after: try await store.loginFailures(of: account), at: services[0].clock.now)
    services[0].clock.pass(wait ?? .zero)
  }

  var account: LoginSubject {
    get throws {
      .accountFrom(try #require(SourceKey(address)), try named(Sample.provider), try named(Sample.account))
    }
  }

  var source: LoginSubject { get throws { .source(try #require(SourceKey(address))) } }
}

@Suite struct `passwords at several nodes` {
  @Test func `that are wrong at once are looked at as often as at one`() async throws {
    let nodes = try await ThreeNodes()
    let guesses = (1...15).map { "wrong \($0)" }
    let verdicts = try await nodes.together(guesses)
    let looked = verdicts.count { $0 == .wrong }
    // Each node may have looked at one of which nobody else had heard.
    #expect((1...LoginThrottle.free + 3).contains(looked), "\(looked) were looked at")
    for number in 0..<20 { _ = try await nodes.one("wrong again \(number)", at: number % 3) }
    #expect(try await nodes.failures(nodes.account) == max(looked, LoginThrottle.free))
    // After each pause one is looked at, at all nodes together.
    for _ in 1...3 {
      try await nodes.pause()
      let next = try await nodes.together(["one", "two", "three", "four", "five", "six"])
      #expect(next.count { $0 == .wrong } == 1, "\(next)")
    }
    let all = max(looked, LoginThrottle.free) + 3
    #expect(try await nodes.failures(nodes.account) == all)
    // Of whoever knows it each node takes it, and all is forgotten but what his address did.
    try await nodes.pause()
    for place in 0..<3 { #expect(try await nodes.isRight(Sample.password, at: place)) }
    #expect(try await nodes.failures(nodes.account) == nil)
    #expect(try await nodes.failures(nodes.source) == all)
  }

  @Test func `that are right get through one at a time wherever the last tries are used up, and use up none`()
    async throws
  {
    let nodes = try await ThreeNodes()
    let source = try nodes.source
    // An address of many households has one left.
    for _ in 1...49 { _ = try await nodes.store.recordLoginFailure(of: source, at: nodes.services[0].clock.now) }
    for number in 0..<30 { #expect(try await nodes.isRight(Sample.password, at: number % 3)) }
    #expect(try await nodes.failures(source) == 49)
    #expect(try await nodes.one("wrong", at: 1) == .wrong)
    #expect(try await nodes.failures(source) == 50)
    for place in 0..<3 { #expect(try await nodes.one(Sample.password, at: place) == .wait(.seconds(1))) }
    nodes.services[0].clock.pass(.seconds(1))
    for place in 0..<3 { #expect(try await nodes.isRight(Sample.password, at: place)) }
    #expect(try await nodes.failures(source) == 50)
  }

  @Test func `that are right at once get through as at one node, and none of them stays counted`() async throws {
    let nodes = try await ThreeNodes()
    for _ in 1...20 {
      _ = try await nodes.store.recordLoginFailure(of: nodes.source, at: nodes.services[0].clock.now)
    }
    let verdicts = try await nodes.together(Array(repeating: Sample.password, count: LoginThrottle.free))
    #expect(verdicts.allSatisfy { if case .right = $0 { true } else { false } }, "\(verdicts)")
    #expect(try await nodes.failures(nodes.source) == 20)
    #expect(try await nodes.failures(nodes.account) == nil)
  }
}
