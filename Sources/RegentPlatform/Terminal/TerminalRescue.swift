import CRegentLinux
import Glibc
import Synchronization

/// Restores the terminal when the program ends before its session does.
///
/// A signal handler may call only the functions that `signal-safety(7)` lists: here atomic exchanges, `tcsetattr`,
/// `write`, `tcgetattr`, `tcgetpgrp`, `sigaction`, `pthread_sigmask` and `raise`. So all data that the handler reads is
/// in plain memory that is never moved. That memory is never freed either, because a handler on another thread may be
/// reading it. Each session leaks a few kilobytes.
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
    // SIGTTOU is ignored. If writing in the background stopped the program, it could not handle the signal that is to
    // end it.
    signal(SIGTTOU, SIG_IGN)
    if isInFront(unsafe record.pointee.number) {
      unsafe record.pointee.enter()
    } else {
      // The program was started in the background. It changes the terminal's mode when it comes to the foreground.
      isAway.store(true, ordering: .releasing)
    }
  }

  /// Which program is in the foreground of the terminal.
  ///
  /// Changes the mode again if this program has just returned to the foreground.
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

  /// Whether this program's process group is in the foreground of the terminal.
  ///
  /// True if the terminal has no foreground group.
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
    // A signal that the program handles or ignores does not end it, so its handler stays. For crash signals this
    // handler always runs first, and then the crash reporter that was installed before.
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

/// The signals of crashes, including SIGQUIT (Ctrl-\).
///
/// Swift's crash reporter handles them when it is enabled.
private let crashSignals = [SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP]

private let leavesAtExit: Void = { _ = atexit(leaveNow) }()

/// The address of the record with which signal handlers restore the terminal; 0 while no program mode is set.
private let armed = Atomic<UInt>(0)

/// Whether the terminal's old mode is restored although the session goes on, because the program is stopped or in the
/// background.
private let isAway = Atomic<Bool>(false)

/// All records for restoring the terminal that were ever made.
///
/// They are kept on purpose, and leak checkers see them through this array.
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

/// Restores the terminal, then lets the signal have the effect that it would have without this handler.
private func leaveAndEnd(_ signal: CInt) {
  guard let record = unsafe takeRecord() else { return }
  unsafe record.pointee.leave()
  unsafe record.pointee.putBackHandler(of: signal)
  // The signal is blocked during this handler. It takes effect on return, so that the exit status of the program is the
  // right one.
  raise(signal)
}

/// Restores the terminal and stops the program.
///
/// When it continues, `comeBack` changes the mode again.
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
    // The program is stopped here until a signal continues it.
    _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = unsafe sigaction(signal, &ours, nil)
  }
}

/// Runs when the stopped program continues, also after `SIGSTOP`, which no program can handle.
///
/// In the foreground it changes the mode and draws; in the background it leaves the terminal alone until
/// ``TerminalRescue/hold()`` finds it in the foreground.
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

/// What a signal handler needs to restore the terminal.
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
      // TCSANOW is used and not TCSADRAIN, which waits until the terminal has taken all output. After a hang-up that
      // never happens.
      _ = unsafe tcsetattr(number, TCSANOW, &mode)
    }
  }

  /// Whether the terminal still has the mode that this program has set.
  ///
  /// A shell in the foreground sets another one for editing its lines.
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
