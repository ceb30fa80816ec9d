internal import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Whether anything can be written, for whoever asks whether the service is ready.
///
/// Asked by anybody as often as he likes, so the disk is not asked each time: on a box each write wears the flash out.
final class WritingProbe: Sendable {
  /// A disk that fills up meanwhile is noticed so much later at most.
  private static let whenGood: Duration = .seconds(30)
  /// Once there is room again, it is noticed so much later at most.
  private static let whenBad: Duration = .seconds(1)

  private struct State {
    var due = Uptime(milliseconds: .min)
    var problem: StoreError?
  }

  private let core: ServiceCore
  private let state = Locked(State())

  init(_ core: ServiceCore) { self.core = core }

  /// Throws what kept the last write from succeeding, at most ``whenGood`` ago.
  func check() async throws(StoreError) {
    let now = core.clock.uptime
    let isMine = state.withLock { state in
      guard now >= state.due else { return false }
      // Whoever comes meanwhile gets the answer of the time before.
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
