import CRegentLinux
import Glibc
import Synchronization

/// Puts the terminal back when the program ends without reaching the end of its session.
///
/// A signal handler may only do what is on the list of `signal-safety(7)`: here atomic exchanges, `tcsetattr`, `write`,
/// `tcgetattr`, `tcgetpgrp`, `sigaction`, `pthread_sigmask` and `raise`. So everything it reads lies in plain memory
/// that nobody moves, and that is not freed, because a handler on another thread may be reading it: a session leaves a
/// few kilobytes behind.
enum TerminalRescue {
  static func arm(
    number: CInt, old: termios, new: termios, greeting: [UInt8], farewell: [UInt8]
  ) throws(SystemError) {
    let record = UnsafeMutablePointer<RescueRecord>.allocate(capacity: 1)
    unsafe record.initialize(
      to: RescueRecord(
        number: number, old: old, new: new, greeting: .copy(of: greeting),
        farewell: .copy(of: farewell)))
    let exchange = armed.compareExchange(
      expected: 0, desired: UInt(bitPattern: record), ordering: .acquiringAndReleasing)
    guard exchange.exchanged else {
      throw SystemError(operation: "change the mode of", subject: "the terminal", code: EBUSY)
    }
    records.withLock { $0.append(UInt(bitPattern: record)) }
    _ = leavesAtExit
    for signal in watchedSignals { unsafe install(signal, in: record) }
    // A program that the terminal stops for writing could not be ended: nobody would take the signal that ends it.
    signal(SIGTTOU, SIG_IGN)
    if isInFront(unsafe record.pointee.number) {
      unsafe record.pointee.enter()
    } else {
      // Who begins in the background takes the terminal when it is given to it.
      isAway.store(true, ordering: .releasing)
    }
  }

  /// Who has the terminal of the session that is on; takes it when it was lost and nobody else has it any more.
  static func hold() -> TerminalHold {
    guard let record = unsafe currentRecord() else { return .held }
    let wasAway = isAway.load(ordering: .acquiring)
    guard isInFront(unsafe record.pointee.number) else {
      unsafe record.pointee.leave()
      return .elsewhere
    }
    guard wasAway else { return .held }
    unsafe record.pointee.enter()
    return .regained
  }

  /// Whether the shell gave the terminal to this program's group; a terminal that no shell governs is everybody's.
  static func isInFront(_ number: CInt) -> Bool {
    let front = tcgetpgrp(number)
    return front <= 0 || front == getpgrp()
  }

  static func disarm() {
    guard let record = unsafe takeRecord() else { return }
    unsafe record.pointee.leave()
    for signal in watchedSignals { unsafe record.pointee.putBackHandler(of: signal) }
  }

  private static func install(_ signal: CInt, in record: UnsafeMutablePointer<RescueRecord>) {
    var found = sigaction()
    guard unsafe sigaction(signal, nil, &found) == 0 else { return }
    // A program that handles or ignores a signal does not end by it. A crash is always ours first; the reporter that
    // was there before is called after us.
    guard isDefault(found) || signal == SIGCONT || crashSignals.contains(signal) else { return }
    unsafe record.pointee.handlers[Int(signal)] = found
    unsafe record.pointee.replaced[Int(signal)] = true
    var action = sigaction()
    switch signal {
    case SIGTSTP: unsafe action.__sigaction_handler.sa_handler = leaveAndStop
    case SIGCONT: unsafe action.__sigaction_handler.sa_handler = comeBack
    default: unsafe action.__sigaction_handler.sa_handler = leaveAndEnd
    }
    _ = unsafe sigaction(signal, &action, nil)
  }

  private static func isDefault(_ action: sigaction) -> Bool {
    unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
  }
}

private let watchedSignals =
  [SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGCONT] + crashSignals

/// Swift's own crash reporter takes these when it is on, the quit key too.
private let crashSignals = [SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP]

private let leavesAtExit: Void = { _ = atexit(leaveNow) }()

/// The address of the record of the session that is on, 0 without one; handlers read it.
private let armed = Atomic<UInt>(0)

/// Whether the terminal was put back although the session is on: the program stood still, or is in the background.
private let isAway = Atomic<Bool>(false)

/// Every record there ever was: kept on purpose, and leak checkers can see that.
private let records = Locked<[UInt]>([])

private func currentRecord() -> UnsafeMutablePointer<RescueRecord>? {
  unsafe UnsafeMutablePointer(bitPattern: armed.load(ordering: .acquiring))
}

private func takeRecord() -> UnsafeMutablePointer<RescueRecord>? {
  let address = armed.exchange(0, ordering: .acquiringAndReleasing)
  return unsafe UnsafeMutablePointer(bitPattern: address)
}

private func leaveNow() {
  TerminalRescue.disarm()
}

/// Puts the terminal back and lets the signal do what it would have done without us.
private func leaveAndEnd(_ signal: CInt) {
  guard let record = unsafe takeRecord() else { return }
  unsafe record.pointee.leave()
  unsafe record.pointee.putBackHandler(of: signal)
  // It is blocked while this handler runs and arrives when it returns, with the right exit status.
  raise(signal)
}

/// Puts the terminal back and stops; the signal that makes the program go on takes the terminal again.
private func leaveAndStop(_ signal: CInt) {
  guard let record = unsafe currentRecord() else { return }
  keepingErrno {
    unsafe record.pointee.leave()
    var standard = sigaction()
    var ours = sigaction()
    _ = unsafe sigaction(signal, &standard, &ours)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal)
    raise(signal)
    _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    // The program stands still here until somebody continues it.
    _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = unsafe sigaction(signal, &ours, nil)
  }
}

/// The program goes on, also after a stop that it could not hear of (`SIGSTOP`): in front it takes the terminal and
/// draws, in the background it leaves the terminal alone until ``TerminalRescue/hold()`` finds it in front again.
private func comeBack(_ signal: CInt) {
  guard let record = unsafe currentRecord() else { return }
  keepingErrno {
    if TerminalRescue.isInFront(unsafe record.pointee.number) {
      unsafe record.pointee.enter()
    } else {
      unsafe record.pointee.leave()
    }
    kill(getpid(), SIGWINCH)
  }
}

/// Everything that putting a terminal back takes.
@unsafe private struct RescueRecord {
  let number: CInt
  let old: termios
  let new: termios
  let greeting: UnsafeBufferPointer<UInt8>
  let farewell: UnsafeBufferPointer<UInt8>
  let handlers = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
  let replaced = UnsafeMutableBufferPointer<Bool>.allocate(capacity: 65)

  init(
    number: CInt, old: termios, new: termios, greeting: UnsafeBufferPointer<UInt8>,
    farewell: UnsafeBufferPointer<UInt8>
  ) {
    unsafe self.number = number
    unsafe self.old = old
    unsafe self.new = new
    unsafe self.greeting = greeting
    unsafe self.farewell = farewell
    unsafe replaced.initialize(repeating: false)
  }

  func enter() {
    isAway.store(false, ordering: .releasing)
    var mode = unsafe new
    _ = unsafe tcsetattr(number, TCSADRAIN, &mode)
    unsafe say(greeting)
  }

  func leave() {
    guard !isAway.exchange(true, ordering: .acquiringAndReleasing) else { return }
    unsafe say(farewell)
    if unsafe TerminalRescue.isInFront(number) || hasOurMode {
      var mode = unsafe old
      // Never TCSADRAIN here: it waits until the terminal took all output, and a hung-up one never does.
      _ = unsafe tcsetattr(number, TCSANOW, &mode)
    }
  }

  /// Whether nobody changed the mode since; a shell that is in front now has set the one that it edits lines with.
  private var hasOurMode: Bool {
    var mode = termios()
    guard unsafe tcgetattr(number, &mode) == 0 else { return false }
    return unsafe mode.c_lflag == new.c_lflag && mode.c_iflag == new.c_iflag
  }

  func putBackHandler(of signal: CInt) {
    guard unsafe replaced[Int(signal)] else { return }
    _ = unsafe sigaction(signal, &handlers[Int(signal)], nil)
  }

  private func say(_ bytes: UnsafeBufferPointer<UInt8>) {
    _ = unsafe write(number, bytes.baseAddress, bytes.count)
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate static func copy(of bytes: [UInt8]) -> UnsafeBufferPointer<UInt8> {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = unsafe copy.initialize(from: bytes)
    return UnsafeBufferPointer(copy)
  }
}
