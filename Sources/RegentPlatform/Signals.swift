import CRegentLinux
import Glibc

/// A signal that a program may want to hear.
public struct Signal: Hashable, Sendable {
  /// The kernel's number.
  public let number: CInt

  /// A signal of the given number.
  public init(number: CInt) {
    self.number = number
  }

  /// Asks the program to end (`SIGTERM`).
  public static let terminate = Signal(number: SIGTERM)
  /// The interrupt key, usually Ctrl-C (`SIGINT`).
  public static let interrupt = Signal(number: SIGINT)
  /// The terminal went away, or by custom: read the settings again (`SIGHUP`).
  public static let hangUp = Signal(number: SIGHUP)
  /// The terminal changed its size (`SIGWINCH`).
  public static let windowChanged = Signal(number: SIGWINCH)
  /// Free for the program (`SIGUSR1`).
  public static let user1 = Signal(number: SIGUSR1)
  /// Free for the program (`SIGUSR2`).
  public static let user2 = Signal(number: SIGUSR2)
}

/// Signals that are kept for a listener instead of ending the program.
///
/// Make this the first thing in a program's start-up function, before any thread exists: threads inherit the mask, and
/// a single thread without it would take the signal and end the program. From then on the kernel keeps each signal
/// until a listener takes it, so one that arrives right after (or before) readiness is announced is never lost.
public struct HeldSignals: Sendable {
  let signals: [Signal]

  /// Holds the signals back in the calling thread and all threads that it starts later.
  ///
  /// - Parameter signals: what to hold.
  public init(_ signals: [Signal]) {
    self.signals = signals
    block(signals)
  }

  /// Ends the holding in the calling thread, right before it becomes another program: a mask survives `exec`.
  public func letGoForExec() {
    var set = signalSet(signals)
    _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Makes writes to a closed pipe or socket return an error instead of ending the program.
  public static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }
}

/// Hears held signals on a thread of its own until it is stopped or let go.
public final class SignalListener: Sendable {
  private let stopping: StopSwitch

  /// Starts listening; signals that arrived since they were held come first.
  ///
  /// - Parameters:
  ///   - held: the signals, held since the start of the program.
  ///   - onSignal: called on the listener's thread, one signal at a time.
  /// - Throws: `SystemError` when no descriptor or thread is left.
  public init(
    _ held: HeldSignals, onSignal: @escaping @Sendable (Signal) -> Void
  ) throws(SystemError) {
    let stopping = try StopSwitch()
    var set = signalSet(held.signals)
    let number = try systemCall("listen for", on: "signals") {
      unsafe signalfd(-1, &set, O_CLOEXEC | O_NONBLOCK)
    }
    let source = SharedDescriptor(FileDescriptor(owning: number))
    self.stopping = stopping
    try DedicatedThread.start(named: "signals") {
      while stopping.waits(for: source.number) != .stopped {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(source.number, &info, size) == size {
          onSignal(Signal(number: CInt(bitPattern: info.ssi_signo)))
        }
      }
    }
  }

  deinit { stop() }

  /// Ends the thread; signals stay held.
  public func stop() { stopping.stop() }

  /// The same as an asynchronous sequence; ending the iteration stops the listener.
  ///
  /// - Parameter held: the signals, held since the start of the program.
  /// - Returns: the signals as they come.
  /// - Throws: `SystemError` when no descriptor or thread is left.
  public static func stream(_ held: HeldSignals) throws(SystemError) -> AsyncStream<Signal> {
    let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
    let listener = try SignalListener(held) { continuation.yield($0) }
    continuation.onTermination = { _ in listener.stop() }
    return stream
  }
}

/// Holds the signals back in the calling thread.
func block(_ signals: [Signal]) {
  var set = signalSet(signals)
  _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
}

private func signalSet(_ signals: [Signal]) -> sigset_t {
  var set = sigset_t()
  unsafe sigemptyset(&set)
  for signal in signals { unsafe sigaddset(&set, signal.number) }
  return set
}
