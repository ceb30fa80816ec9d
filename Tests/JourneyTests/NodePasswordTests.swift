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

/// A shared store that holds back each password until the test releases it, so that all attempts are pending together.
private final class HeldPasswordsStore: ForwardingStore {
  let target: any Store = MemoryStore(isShared: true)
  let held = Locked(0)
  let isOpen = Locked(true)

  func password(of account: AccountName, at provider: ProviderID) async throws(StoreError) -> String? {
    held.withLock { $0 += 1 }
    _ = try? await eventually("the test releases the passwords") { isOpen.withLock { $0 } ? true : nil }
    held.withLock { $0 -= 1 }
    return try await target.password(of: account, at: provider)
  }
}

/// Three nodes on one store that know of each other.
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

  /// The verdicts on passwords that are checked concurrently, at the nodes in turn.
  func together(_ passwords: [String]) async throws -> [SignInCheck.Verdict] {
    store.isOpen.withLock { $0 = false }
    let answered = Locked(0)
    let tries = passwords.enumerated().map { [self] place, password in
      Task { @Sendable () async throws -> SignInCheck.Verdict in
        defer { answered.withLock { $0 += 1 } }
        return try await one(password, at: place % checks.count)
      }
    }
    try await eventually("each attempt is pending or answered") {
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

  /// Lets the time pass that the account has to wait.
  func pause() async throws {
    let wait = LoginThrottle.pause(after: try await store.loginFailures(of: account), at: services[0].clock.now)
    services[0].clock.pass(wait ?? .zero)
  }

  var account: LoginSubject {
    get throws {
      .accountFrom(SourceKey(address), try named(Sample.provider), try named(Sample.account))
    }
  }

  var source: LoginSubject { get throws { .source(SourceKey(address)) } }
}

@Suite struct `Passwords at several nodes` {
  @Test func `concurrent wrong passwords are checked as often at three nodes as at one`() async throws {
    let nodes = try await ThreeNodes()
    let guesses = (1...15).map { "wrong \($0)" }
    let verdicts = try await nodes.together(guesses)
    let looked = verdicts.count { $0 == .wrong }
    // Each node may have checked one password that the other nodes did not yet know of.
    #expect((1...LoginThrottle.free + 3).contains(looked), "\(looked) were checked")
    for number in 0..<20 { _ = try await nodes.one("wrong again \(number)", at: number % 3) }
    #expect(try await nodes.failures(nodes.account) == max(looked, LoginThrottle.free))
    // After each pause all nodes together check one password.
    for _ in 1...3 {
      try await nodes.pause()
      let next = try await nodes.together(["one", "two", "three", "four", "five", "six"])
      #expect(next.count { $0 == .wrong } == 1, "\(next)")
    }
    let all = max(looked, LoginThrottle.free) + 3
    #expect(try await nodes.failures(nodes.account) == all)
    // Every node accepts the right password. It clears the failures of the account, but not those of the address.
    try await nodes.pause()
    for place in 0..<3 { #expect(try await nodes.isRight(Sample.password, at: place)) }
    #expect(try await nodes.failures(nodes.account) == nil)
    #expect(try await nodes.failures(nodes.source) == all)
  }

  @Test func `right passwords pass one at a time when one attempt is left, and use up no attempt`()
    async throws
  {
    let nodes = try await ThreeNodes()
    let source = try nodes.source
    // The address, which many households share, has one attempt left.
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

  @Test func `right passwords at several nodes at once are accepted, and none stays counted as wrong`() async throws {
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
