import RegentCryptography
import RegentPlatform

/// Pauses between tries that end when something has changed that may let the next one succeed.
final class Recovery: Sendable {
  private struct State: Sendable {
    var hasChanged = false
    var waiter: CheckedContinuation<Void, Never>?
    /// When a change ended a pause last, in nanoseconds since boot.
    var ended: UInt64 = 0
  }

  private let state = Locked(State())
  private let clock: @Sendable () -> UInt64

  /// An address, a route and the name servers come one after the other; milliseconds.
  private static let settling = 100
  /// A network that comes and goes ends a pause once in this time; nanoseconds.
  private static let rest: UInt64 = 1_000_000_000

  init(clock: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }) { self.clock = clock }

  /// Ends the pause, or the next one: what changed while a try was under way may have come too late for it.
  func changed() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.hasChanged = true
      return state.waiter.take()
    }?.resume()
  }

  /// Waits that long, or until something changes.
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
