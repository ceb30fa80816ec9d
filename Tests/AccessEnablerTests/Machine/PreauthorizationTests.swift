import RegentPairing
import RegentPairingWire
import Testing

@testable import AccessEnabler

@Suite("State machine: preauthorization")
struct PreauthorizationTests {
  @Test func `a preauthorization is cached until the list changes or the caller skips the cache`() {
    var bench = Bench.signedIn()
    bench.call(.preauthorize(["a", "b", "c"], usesCache: true))
    bench.answer(.preauthorized(["c", "a"]))
    bench.call(.preauthorize(["c", "b", "a"], usesCache: true))
    #expect(
      bench.told == [.preauthorizedResources(["a", "c"]), .preauthorizedResources(["c", "a"])])
    #expect(bench.sent.count == 1)
    bench.call(.preauthorize(["a", "b", "c"], usesCache: false))
    #expect(bench.sent.count == 2)
    bench.call(.preauthorize(["a"], usesCache: true))
    #expect(bench.sent.count == 3)
  }

  @Test func `resource names in different Unicode forms are different resources, also in the preauthorization cache`() {
    let (whole, composed) = ("caf\u{e9}", "cafe\u{301}")
    var bench = Bench.signedIn()
    bench.call(.preauthorize([whole, composed], usesCache: true))
    bench.answer(.preauthorized([whole]))
    bench.forget()
    bench.call(.preauthorize([whole, composed], usesCache: true))
    guard case .preauthorizedResources(let allowed)? = bench.told.last else {
      Issue.record("no answer: \(bench.told)")
      return
    }
    #expect(allowed.map { Array($0.utf8) } == [Array(whole.utf8)] && bench.sent.isEmpty)
    bench.call(.preauthorize([composed], usesCache: true))
    #expect(bench.sent.count == 1)
  }

  @Test func `a preauthorization without a sign-in or with too many resources is empty and has a reason`() {
    var bench = Bench.ready()
    let first = bench.call(.preauthorize(["a"], usesCache: true))
    #expect(bench.statuses == [.notAuthenticated])
    #expect(bench.error(of: first)?.kind == .notAuthenticated)
    bench = Bench.signedIn()
    let second = bench.call(.preauthorize(["a"], usesCache: true))
    bench.answer(.failed(PendingCallTests.failure(403, .tooManyResources)))
    #expect(bench.statuses == [.preauthorizationFailed])
    #expect(bench.error(of: second)?.kind == .tooManyResources)
    #expect(bench.told.last == .preauthorizedResources([]))
  }

  @Test(
    arguments: [
      (400, nil, EntitlementError.Kind.malformedResource), (403, nil, .tooManyResources),
      (403, .unknownIntegration, .service),
    ] as [(Int, EnhancedCode?, EntitlementError.Kind)])
  func `a preauthorization is refused as too long only if the service says so or gives no code`(
    status: Int, code: EnhancedCode?, kind: EntitlementError.Kind
  ) {
    var bench = Bench.signedIn()
    let request = bench.call(.preauthorize(["a"], usesCache: true))
    bench.answer(.failed(ServiceFailure(kind: .status(status), code: code)))
    #expect(bench.statuses == [.preauthorizationFailed])
    #expect(bench.error(of: request)?.kind == kind)
  }

  @Test func `a list longer than the service allows is sent in parts and answered once`() {
    var bench = Bench.signedIn()
    let request = bench.call(.preauthorize(["a", "b", "c", "d", "e"], usesCache: true))
    var failure = PendingCallTests.failure(403, .tooManyResources)
    failure.details = "at most 2 resources at once"
    bench.answer(.failed(failure))
    bench.answer(.preauthorized(["b"]))
    bench.answer(.preauthorized([]))
    #expect(bench.told.isEmpty && bench.outcomes(of: request).isEmpty)
    bench.answer(.preauthorized(["e"]))
    #expect(bench.told == [.preauthorizedResources(["b", "e"])])
    let lists: [[String]] = bench.sent.compactMap {
      if case .preauthorize(let list) = $0.operation { list } else { nil }
    }
    #expect(lists == [["a", "b", "c", "d", "e"], ["a", "b"], ["c", "d"], ["e"]])
    // The state machine remembers the service's limit and caches the complete answer.
    bench.forget()
    bench.call(.preauthorize(["x", "y", "z"], usesCache: true))
    #expect(bench.sent.map(\.operation) == [.preauthorize(["x", "y"])])
    // Another sign-in, as at another provider, may have another limit.
    var tokens = bench.machine.tokens
    tokens.authentication?.signIn.userID = "other"
    bench.send(.tokens(tokens))
    bench.forget()
    bench.call(.preauthorize(["x", "y", "z"], usesCache: true))
    #expect(bench.sent.map(\.operation) == [.preauthorize(["x", "y", "z"])])
    // When the service names no limit, a part has five resources.
    var unnamed = Bench.signedIn()
    unnamed.call(.preauthorize((0..<8).map { "r\($0)" }, usesCache: true))
    unnamed.answer(.failed(PendingCallTests.failure(403, .tooManyResources)))
    #expect(unnamed.open.map(\.operation) == [.preauthorize((0..<5).map { "r\($0)" })])
  }

  @Test func `a service that answers 429 between two parts gets the pause that it asked for`() throws {
    var bench = Bench.signedIn()
    let request = bench.call(.preauthorize(["a", "b", "c"], usesCache: true))
    var failure = PendingCallTests.failure(403, .tooManyResources)
    failure.details = "at most 1 resources at once"
    bench.answer(.failed(failure))
    bench.answer(.preauthorized(["a"]))
    bench.forget()
    bench.answer(.failed(ServiceFailure(kind: .status(429), retryAfter: .seconds(3))))
    let pause = bench.actions.compactMap { if case .startTimer(let timer, .seconds(3)) = $0 { timer } else { nil } }
    #expect(bench.told.isEmpty && bench.open.isEmpty)
    bench.send(.timer(try #require(pause.first)))
    bench.answer(.preauthorized(["b"]))
    bench.answer(.preauthorized([]))
    #expect(bench.told == [.preauthorizedResources(["a", "b"])])
    #expect(bench.outcomes(of: request).count == 1)
    // A logout ends both the pause and the preauthorization.
    let second = bench.call(.preauthorize(["d", "e"], usesCache: true))
    bench.answer(.preauthorized(["d"]))
    bench.answer(.failed(ServiceFailure(kind: .status(429))))
    bench.call(.logout)
    #expect(bench.error(of: second)?.kind == .notAuthenticated)
  }
}
