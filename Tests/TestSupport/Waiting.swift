// All waiting of the tests is here. Each wait names its event and ends after a time limit, so that a lost event fails
// the test with a sentence within seconds and does not hang the run. Tests/ArchitectureTests/WaitingTests.swift
// forbids other ways of waiting.
internal import Glibc
internal import Synchronization

/// The seconds after which an event counts as lost.
///
/// A passing test never waits so long. The limit is six times as long under a sanitizer, and up to ten times as long
/// when the machine is busy, so that a build beside the tests does not fail them.
public var patience: Int { (isSanitized ? 180 : 30) * slowness }

/// The number of runnable processes per processor over the last minute, from 1 to 10.
private var slowness: Int {
  let load = (try? readFile("/proc/loadavg")).flatMap { text in
    String(decoding: text, as: UTF8.self).split(separator: " ").first.flatMap { Double($0) }
  }
  let share = (load ?? 0) / Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  return min(10, max(1, Int(share.rounded(.up))))
}

/// Blocks the thread until `condition` returns a value that is not nil or false.
///
/// The attribute makes the compiler choose the asynchronous overload below where `await` is possible.
@_disfavoredOverload
@discardableResult
public func eventually<Value>(
  _ what: String, within seconds: Int = patience, _ condition: () throws -> Value?
) throws -> Value {
  let end = ContinuousClock.now + .seconds(seconds)
  for pause in Pauses() {
    if let value = try condition(), value as? Bool != false { return value }
    guard ContinuousClock.now < end else { break }
    usleep(UInt32(pause))
  }
  throw lost(what, seconds)
}

/// Suspends the task until `condition` returns a value that is not nil or false.
///
/// The limit counts pauses, not time: when all threads of the concurrency pool are busy, pauses become longer for the
/// waiting task as much as for the task that it waits for.
@discardableResult
public func eventually<Value>(
  _ what: String, within seconds: Int = patience, isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Value?
) async throws -> Value {
  for pause in Pauses().prefix(Pauses.short + seconds * 200) {
    if let value = try await condition(), value as? Bool != false { return value }
    try await Task.sleep(for: .microseconds(pause))
  }
  throw lost(what, seconds)
}

/// Awaits the result of `operation` for at most `seconds`.
///
/// After that it cancels the operation and does not await its end, because the operation may be suspended in a
/// continuation that is never resumed.
public func awaiting<Value: Sendable>(
  _ what: String, within seconds: Int = patience,
  _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let outcome = FirstOutcome<Value>()
  let work = Task {
    do {
      outcome.settle(.success(try await operation()))
    } catch {
      outcome.settle(.failure(error))
    }
  }
  defer { work.cancel() }
  return try await outcome.value(what, within: seconds)
}

/// Calls `start` at once and awaits the value that its callback gets, for at most `seconds`.
public func awaitingCallback<Value: Sendable>(
  _ what: String, within seconds: Int = patience, isolation: isolated (any Actor)? = #isolation,
  _ start: (_ callback: @escaping @Sendable (Value) -> Void) throws -> Void
) async throws -> Value {
  let outcome = FirstOutcome<Value>()
  try start { outcome.settle(.success($0)) }
  return try await outcome.value(what, within: seconds)
}

extension AsyncStream where Element: Sendable {
  /// Awaits the next element for at most `seconds`.
  public func next(_ what: String, within seconds: Int = patience) async throws -> Element {
    try await first(what, within: seconds) { $0 }
  }

  /// Awaits the first value other than nil that `find` returns for an element, for at most `seconds`.
  public func first<Found: Sendable>(
    _ what: String, within seconds: Int = patience,
    _ find: @escaping @Sendable (Element) async throws -> Found?
  ) async throws -> Found {
    try await awaiting(what, within: seconds) {
      for await element in self {
        if let found = try await find(element) { return found }
      }
      throw TestSupportError("the stream ended without it: \(what)")
    }
  }
}

extension Task where Success: Sendable {
  /// Awaits the task's value for at most `seconds`.
  public func value(_ what: String, within seconds: Int = patience) async throws -> Success {
    try await awaiting(what, within: seconds) { try await result.get() }
  }
}

/// Blocks the thread for a time that the test's scenario needs: the pace of a slow sender, the delay before a kill, or
/// a period in which an event must not happen.
///
/// Never use it to wait until something has happened; `eventually` does that. WaitingTests lists every use and its
/// reason.
public func pass(milliseconds: Int) { usleep(UInt32(milliseconds) * 1_000) }

/// Suspends the task for a time that the test's scenario needs; other tasks run meanwhile.
public func pass(milliseconds: Int) async throws {
  try await Task.sleep(for: .milliseconds(milliseconds))
}

/// An event that happens once, on one thread or task, and that others can wait for.
public final class Flag: Sendable {
  private let what: String
  private let raised = Atomic(false)

  /// Makes a flag; `what` names the event in the error of a wait that fails.
  public init(_ what: String) { self.what = what }

  public func raise() { raised.store(true, ordering: .releasing) }

  public var isRaised: Bool { raised.load(ordering: .acquiring) }

  /// Waits from a task.
  ///
  /// Blocking one of the few threads of the concurrency pool could stop the event itself.
  public func wait() async throws { try await eventually(what) { isRaised } }

  /// Waits from a thread.
  ///
  /// The limit is twenty times as long, because a task of a test often raises the flag. While a thousand other tests
  /// start on the few threads of the pool, a task that has suspended once may wait behind all of them. One minute was
  /// too
  /// short on such a machine: the thread went on in the middle of the test.
  public func block() throws { try eventually(what, within: 20 * patience) { isRaised } }
}

/// The first outcome of a wait: a value, an error, or the end of the time.
private final class FirstOutcome<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value, any Error>)
    case settled(Result<Value, any Error>)
  }

  private let state = Mutex(State.open)

  func settle(_ result: Result<Value, any Error>) {
    let waiting = state.withLock { state -> CheckedContinuation<Value, any Error>? in
      switch state {
      case .settled: return nil
      case .open:
        state = .settled(result)
        return nil
      case .awaited(let continuation):
        state = .settled(result)
        return continuation
      }
    }
    waiting?.resume(with: result)
  }

  func value(_ what: String, within seconds: Int) async throws -> Value {
    let alarm = Task {
      // Counts pauses, for the reason given at `eventually`.
      for _ in 0..<(seconds * 20) { try await Task.sleep(for: .milliseconds(50)) }
      settle(.failure(lost(what, seconds)))
    }
    defer { alarm.cancel() }
    return try await withCheckedThrowingContinuation { continuation in
      let result = state.withLock { state -> Result<Value, any Error>? in
        if case .settled(let result) = state { return result }
        state = .awaited(continuation)
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }
}

/// Pauses in microseconds: short at first, because most events come at once; later long enough that polling takes no
/// processor time from the awaited work.
private struct Pauses: Sequence, IteratorProtocol {
  static let short = 50
  private var taken = 0

  mutating func next() -> Int? {
    taken += 1
    return taken <= Self.short ? 200 : 5_000
  }
}

private func lost(_ what: String, _ seconds: Int) -> TestSupportError {
  TestSupportError("not within \(seconds) s: \(what)")
}
