internal import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Tests whether the store can be written, for the readiness check.
///
/// Any client may ask at any rate, so the result is cached: on a box, each write wears out the flash memory.
final class WriteProbe: Sendable {
  /// How long a successful test is cached.
  ///
  /// A disk that fills up is noticed after this time at the latest.
  private static let whenGood: Duration = .seconds(30)
  /// How long a failed test is cached.
  ///
  /// When there is room again, it is noticed after this time at the latest.
  private static let whenBad: Duration = .seconds(1)

  private struct WriteProbeState {
    var due = Uptime(milliseconds: .min)
    var problem: StoreError?
  }

  private let core: ServiceCore
  private let state = Locked(WriteProbeState())

  init(_ core: ServiceCore) { self.core = core }

  /// Throws the error of the last test of writing, which was at most ``whenGood`` ago.
  func check() async throws(StoreError) {
    let now = core.clock.uptime
    let isMine = state.withLock { state in
      guard now >= state.due else { return false }
      // Requests that arrive during the test get the previous result.
      state.due = now + Self.whenBad
      return true
    }
    if isMine {
      let problem: StoreError?
      do throws(StoreError) {
        try await core.store.tryWriting()
        problem = nil
      } catch {
        problem = error
      }
      state.withLock { state in
        state.problem = problem
        state.due = now + (problem == nil ? Self.whenGood : Self.whenBad)
      }
    }
    if let problem = state.withLock({ $0.problem }) { throw problem }
  }
}
