import Glibc

/// What a terminal does with keys before the program sees them.
public enum TerminalMode: Sendable {
  /// Keys come one by one and are not shown; Ctrl-C and Ctrl-Z still send their signals.
  case keys
  /// Everything comes as bytes, Ctrl-C too, and output is not touched.
  case raw
  /// Whole lines, not shown: for passwords.
  case hidden
}

/// The size of a terminal in characters.
public struct WindowSize: Equatable, Sendable {
  /// Lines.
  public let rows: Int
  /// Characters in a line.
  public let columns: Int

  public init(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
  }

  /// More than any screen shows: whoever draws keeps something for each character.
  public static let largest = WindowSize(rows: 200, columns: 500)

  /// The size of the terminal behind a descriptor; `nil` when it is none or does not know.
  ///
  /// What a terminal claims beyond ``largest`` is left alone: its size is whatever somebody told the kernel.
  ///
  /// - Parameter number: an open descriptor.
  public init?(of number: CInt) {
    var size = winsize()
    guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0
    else {
      return nil
    }
    self.init(
      rows: min(Int(size.ws_row), Self.largest.rows),
      columns: min(Int(size.ws_col), Self.largest.columns))
  }
}

/// Facts about descriptors that may be terminals.
public enum Terminal {
  /// Whether a descriptor is a terminal.
  ///
  /// - Parameter number: an open descriptor: 0, 1 or 2, usually.
  /// - Returns: false for files and pipes.
  public static func isTerminal(_ number: CInt) -> Bool {
    isatty(number) == 1
  }
}

/// Who has the terminal of a ``TerminalSession``.
public enum TerminalHold: Sendable {
  /// This program.
  case held
  /// This program, again just now: everything is to be drawn anew.
  case regained
  /// Another one: this program was put into the background.
  case elsewhere
}

/// A terminal in another mode, put back however the program ends.
///
/// The old mode returns, and the farewell bytes are written, when this value goes away, at `exit`, and when a signal
/// ends the program: one from outside (`TERM`, `INT`, `HUP`, `QUIT`) as well as a crash. On Ctrl-Z the shell finds its
/// own mode; on return the program finds this one and a window-changed signal that makes it draw again. In the
/// background it ends as in front, and ``hold()`` says whether it may draw. Only `kill -9` cannot be answered. One
/// session at a time, because there is one controlling terminal.
public struct TerminalSession: ~Copyable, Sendable {
  private let terminal: FileDescriptor

  /// Switches the mode.
  ///
  /// - Parameters:
  ///   - number: the terminal; the session works on a copy of its own, so it may be closed meanwhile.
  ///   - mode: the new mode.
  ///   - greeting: bytes to write now and again after Ctrl-Z: other screen, no cursor.
  ///   - farewell: bytes to write when the old mode returns: first screen, cursor.
  /// - Throws: `SystemError` when it is not a terminal, or `EBUSY` when another session is on.
  public init(
    on number: CInt, mode: TerminalMode, greeting: [UInt8] = [], farewell: [UInt8] = []
  ) throws(SystemError) {
    var old = termios()
    try systemCall("read the mode of", on: "the terminal") { unsafe tcgetattr(number, &old) }
    let copy = FileDescriptor(
      owning: try systemCall("keep open", on: "the terminal") {
        fcntl(number, F_DUPFD_CLOEXEC, 3)
      })
    try TerminalRescue.arm(
      number: copy.number, old: old, new: mode.applied(to: old), greeting: greeting,
      farewell: farewell)
    terminal = copy
  }

  deinit { TerminalRescue.disarm() }

  /// Who has the terminal now: to be asked before each drawing, since a shell that puts a program into the background
  /// sends no signal of its own, nor when it brings a running one back.
  public static func hold() -> TerminalHold { TerminalRescue.hold() }

  /// Puts the old mode back now instead of when the value goes away.
  public consuming func end() {}
}

extension TerminalMode {
  func applied(to old: termios) -> termios {
    var mode = old
    switch self {
    case .keys:
      mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    case .raw:
      unsafe cfmakeraw(&mode)
    case .hidden:
      mode.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK)
      mode.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
    }
    if case .hidden = self { return mode }
    unsafe withUnsafeMutableBytes(of: &mode.c_cc) { characters in
      unsafe characters[Int(VMIN)] = 1
      unsafe characters[Int(VTIME)] = 0
    }
    return mode
  }
}
