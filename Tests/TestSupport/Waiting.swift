// The one place where tests wait. Whoever waits says for what and gives up in the end: an event that is lost is a
// failed test with a sentence, in seconds, and not a run that hangs. Tests/ArchitectureTests/WaitingTests.swift holds
// the others to it.
internal import Glibc
internal import Synchronization

/// The seconds after which an event counts as lost.
///
/// A passing test never waits so long. The limit is six times as long under a sanitizer, and grows with the number of
/// processes that wait for a processor, up to tenfold: a build beside the tests must not fail them.
public var patience: Int { (isSanitized ? 180 : 30) * slowness }

/// Runnable processes per processor over the last minute, from 1 to 10.
private var slowness: Int {
  let load = (try? readFile("/proc/loadavg")).flatMap { text in
    String(decoding: text, as: UTF8.self).split(separator: " ").first.flatMap { Double($0) }
  }
  let share = (load ?? 0) / Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  return min(10, max(1, Int(share.rounded(.up))))
}

/// Waits until `condition` gives a value that is not false, for what another process or thread does in its own time;
/// blocks the thread.
///
/// Where a task may wait, the compiler is to take the one for tasks below, hence the attribute.
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

/// Waits until `condition` gives a value that is not false, and lets other tasks run meanwhile.
///
/// The time is counted in pauses: where all threads that tasks share are busy, a pause takes as long for whoever waits
/// as for the one that is waited for.
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

/// Awaits what `operation` gives, but not for ever.
///
/// The operation is left behind when time is up, cancelled: it may stand in a continuation that nobody resumes.
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

/// Awaits what is called back with, but not for ever; `start` is called at once.
public func awaitingCallback<Value: Sendable>(
  _ what: String, within seconds: Int = patience, isolation: isolated (any Actor)? = #isolation,
  _ start: (_ callback: @escaping @Sendable (Value) -> Void) throws -> Void
) async throws -> Value {
  let outcome = FirstOutcome<Value>()
  try start { outcome.settle(.success($0)) }
  return try await outcome.value(what, within: seconds)
}

extension AsyncStream where Element: Sendable {
  /// The next element, but not awaited for ever.
  public func next(_ what: String, within seconds: Int = patience) async throws -> Element {
    try await first(what, within: seconds) { $0 }
  }

  /// What `find` makes of the next element that it makes something of, but not awaited for ever.
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
  /// The task's value, but not awaited for ever.
  public func value(_ what: String, within seconds: Int = patience) async throws -> Success {
    try await awaiting(what, within: seconds) { try await result.get() }
  }
}

/// Lets time pass that belongs to the story: the pace of a slow sender, the moment of a kill, a time in which something
/// must not happen.
///
/// Nothing may be expected to have happened in it: that is awaited with `eventually`. WaitingTests lists who uses it,
/// and why.
public func pass(milliseconds: Int) { usleep(UInt32(milliseconds) * 1_000) }

/// The same for tasks, which let others run meanwhile.
public func pass(milliseconds: Int) async throws {
  try await Task.sleep(for: .milliseconds(milliseconds))
}

/// Something that happens once, on one thread or task, and that others wait for.
public final class Flag: Sendable {
  private let what: String
  private let raised = Atomic(false)

  /// `what` has happened when it is raised.
  public init(_ what: String) { self.what = what }

  public func raise() { raised.store(true, ordering: .releasing) }

  public var isRaised: Bool { raised.load(ordering: .acquiring) }

  /// For tasks: blocking one of the few threads that they share could stop what is waited for.
  public func wait() async throws { try await eventually(what) { isRaised } }

  /// For threads.
  ///
  /// With far more time: it is often a test's task that raises it, and while a thousand other tests begin on the few
  /// threads that tasks share, a task that has waited once may stand behind all of them. On such a machine a minute was
  /// over before, and the thread went on by itself in the middle of the test.
  public func block() throws { try eventually(what, within: 20 * patience) { isRaised } }
}

/// What ends first: a value, an error, or the time.
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
      // Counted in pauses, as above.
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

/// Microseconds: short at first, because most things come at once; then so long that waiting takes nothing from who
/// works.
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
