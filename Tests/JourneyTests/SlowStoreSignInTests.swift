import HTTPTestSupport
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

/// A store that is slow to clear failures, as PostgreSQL is while its standby is away.
private final class SlowToForgiveStore: ForwardingStore {
  let target: any Store = MemoryStore()
  let waiting = Locked(0)
  let mayGoOn = Locked(false)

  func clearLoginFailures(of subject: LoginSubject) async throws(StoreError) {
    waiting.withLock { $0 += 1 }
    _ = try? await eventually("the test releases the store") { mayGoOn.withLock { $0 } ? true : nil }
    try await target.clearLoginFailures(of: subject)
  }
}

@Suite struct `Right passwords with a slow store` {
  @Test func `a right password does not count as a guess while the store is slow`() async throws {
    let store = SlowToForgiveStore()
    let service = try await TestService(on: store)
    let check = SignInCheck(service.core)
    let address = IPAddress(ipv4: 0xCB00_7101)
    @Sendable func verify(_ password: String) async throws -> SignInCheck.Verdict {
      try await check.verify(Sample.account, password, at: try named(Sample.provider), from: address)
    }
    #expect(try await verify("wrong") == .wrong)
    let count = LoginThrottle.free * 2
    let tries = (1...count).map { number in
      Task {
        // One after the other: so many concurrent attempts would count as guesses until they are checked.
        try await eventually("the attempts before this one wait for the store") {
          store.waiting.withLock { $0 } >= number - 1 ? true : nil
        }
        return try await verify(Sample.password)
      }
    }
    try await eventually("all attempts wait for the store") { store.waiting.withLock { $0 } >= count ? true : nil }
    store.mayGoOn.withLock { $0 = true }
    for tried in tries {
      guard case .right = try await tried.value else {
        Issue.record("a right password was counted as a guess"); continue
      }
    }
  }
}
