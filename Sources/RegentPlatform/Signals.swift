import CRegentLinux
import Glibc

/// A Unix signal.
public struct Signal: Hashable, Sendable {
  public let number: CInt

  public init(number: CInt) {
    self.number = number
  }

  /// The signal that asks the program to end (`SIGTERM`).
  public static let terminate = Signal(number: SIGTERM)
  /// The interrupt key, usually Ctrl-C (`SIGINT`).
  public static let interrupt = Signal(number: SIGINT)
  /// The terminal was closed; daemons use it to reload their settings (`SIGHUP`).
  public static let hangUp = Signal(number: SIGHUP)
  /// The size of the terminal has changed (`SIGWINCH`).
  public static let windowChanged = Signal(number: SIGWINCH)
  /// A signal for the program's own use (`SIGUSR1`).
  public static let user1 = Signal(number: SIGUSR1)
  /// A signal for the program's own use (`SIGUSR2`).
  public static let user2 = Signal(number: SIGUSR2)
}

/// Signals that are blocked so that a listener receives them instead of their ending the program.
///
/// Create it first in a program, before any other thread exists: threads inherit the mask, and a single thread without
/// it would receive the signal and end the program. From then on the kernel keeps each signal until a listener takes
/// it, so that a signal just before or after the program announces its readiness is not lost.
public struct HeldSignals: Sendable {
  let signals: [Signal]

  /// Blocks the signals in the calling thread and in all threads that it starts later.
  public init(_ signals: [Signal]) {
    self.signals = signals
    block(signals)
  }

  /// Unblocks the signals in the calling thread, right before it executes another program: the mask survives `exec`.
  public func letGoForExec() {
    var set = signalSet(signals)
    _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Makes writes to a closed pipe or socket fail with an error.
  ///
  /// By default a signal (SIGPIPE) ends the program.
  public static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }
}

/// Receives held signals on a separate thread until it is stopped or released.
public final class SignalListener: Sendable {
  private let stopping: StopSwitch

  /// Starts listening.
  ///
  /// Signals that arrived since they were blocked are delivered first.
  ///
  /// - Parameters:
  ///   - held: the signals, held since the start of the program.
  ///   - onSignal: called on the listener's thread, one signal at a time.
  /// - Throws: `SystemError` when no descriptor or thread is available.
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

  /// Ends the listener's thread.
  ///
  /// The signals stay blocked.
  public func stop() { stopping.stop() }

  /// Receives held signals as an asynchronous sequence.
  ///
  /// The listener stops when the iteration ends.
  ///
  /// - Parameter held: the signals, held since the start of the program.
  /// - Returns: the signals in the order of their arrival.
  /// - Throws: `SystemError` when no descriptor or thread is available.
  public static func stream(_ held: HeldSignals) throws(SystemError) -> AsyncStream<Signal> {
    let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
    let listener = try SignalListener(held) { continuation.yield($0) }
    continuation.onTermination = { _ in listener.stop() }
    return stream
  }
}

/// Blocks the signals in the calling thread.
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
