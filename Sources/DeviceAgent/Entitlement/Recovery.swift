import RegentCryptography
import RegentPlatform

/// Pauses between retries that end early when the network or the clock has changed.
final class Recovery: Sendable {
  private struct RecoveryState: Sendable {
    var hasChanged = false
    var waiter: CheckedContinuation<Void, Never>?
    /// When a change last ended a pause, in nanoseconds since boot.
    var ended: UInt64 = 0
  }

  private let state = Locked(RecoveryState())
  private let clock: @Sendable () -> UInt64

  /// The shortest wait after a change of the network, in milliseconds, because address, route and name servers change
  /// one after the other.
  private static let settling = 100
  /// The shortest time between two pauses that a change ends early, in nanoseconds.
  ///
  /// This limits the retries when a network comes and goes.
  private static let rest: UInt64 = 1_000_000_000

  init(clock: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }) { self.clock = clock }

  /// Ends the current pause, or the next one if a try is under way, which may have missed the change.
  func changed() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.hasChanged = true
      return state.waiter.take()
    }?.resume()
  }

  /// Waits for this time, or until the network or the clock changes.
  func pause(_ span: Duration) async {
    let began = clock()
    await sleep(span)
    let isEarly = state.withLock { state in
      defer { state.hasChanged = false }
      return state.hasChanged
    }
    guard isEarly, !Task.isCancelled else { return }
    let last = state.withLock { $0.ended }
    let rest = last == 0 ? 0 : Self.rest - min(Self.rest, clock() - last)
    let settling = UInt64(Self.settling + Random.number(below: 2 * Self.settling)) * 1_000_000
    let left = span.wholeNanoseconds - min(span.wholeNanoseconds, clock() - began)
    try? await Task.sleep(for: .nanoseconds(Int64(clamping: min(max(rest, settling), left))))
    state.withLock { $0.ended = clock() }
  }

  private func sleep(_ span: Duration) async {
    let timer = Task {
      try? await Task.sleep(for: span)
      if !Task.isCancelled { wake() }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.hasChanged || Task.isCancelled { return true }
          state.waiter = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
    timer.cancel()
  }

  private func wake() { state.withLock { $0.waiter.take() }?.resume() }
}
