import Glibc

/// How a terminal processes keys before the program reads them.
public enum TerminalMode: Sendable {
  /// Keys are read one by one and not echoed. Ctrl-C and Ctrl-Z still send their signals.
  case keys
  /// All keys are read as bytes, Ctrl-C too. The terminal does not process output.
  case raw
  /// Lines are read without echo, for passwords.
  case hidden
}

public struct WindowSize: Equatable, Sendable {
  public let rows: Int
  public let columns: Int

  public init(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
  }

  /// The largest terminal size that is used, because drawing code allocates memory for each character.
  public static let largest = WindowSize(rows: 200, columns: 500)

  /// The size of the terminal behind a descriptor; nil when it is not a terminal or its size is unknown.
  ///
  /// The size is limited to ``largest``, because the kernel reports any size that a program has set.
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

public enum Terminal {
  /// Whether a descriptor is a terminal, and not a file or a pipe.
  public static func isTerminal(_ number: CInt) -> Bool {
    isatty(number) == 1
  }
}

/// Which program is in the foreground of a ``TerminalSession``'s terminal.
public enum TerminalHold: Sendable {
  case held
  /// This program is in the foreground. It has just returned there, and must draw everything again.
  case regained
  /// Another program is in the foreground, so this one must not draw.
  case elsewhere
}

/// Changes a terminal's mode, and restores it however the program ends.
///
/// The old mode is restored and `farewell` is written when this value goes away, at `exit`, and when a signal ends the
/// program, from outside (`TERM`, `INT`, `HUP`, `QUIT`) or because of a crash. On Ctrl-Z the shell gets its own mode
/// back. When the program continues, it gets this mode again and a window-changed signal, so that it draws again. It
/// can also be ended while it is in the background; ``hold()`` says whether it may draw. Only `kill -9` leaves the mode
/// changed. Only one session may exist at a time, because there is one controlling terminal.
public struct TerminalSession: ~Copyable, Sendable {
  private let terminal: FileDescriptor

  /// Changes the mode.
  ///
  /// - Parameters:
  ///   - number: the terminal. The session uses a duplicate, so the caller may close it.
  ///   - mode: the new mode.
  ///   - greeting: bytes to write now and again after Ctrl-Z, such as switching to the alternate screen and hiding the
  ///     cursor.
  ///   - farewell: bytes to write when the old mode is restored, such as switching back and showing the cursor.
  /// - Throws: `SystemError` when it is not a terminal; `EBUSY` when another session exists.
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

  /// Which program is in the foreground of the terminal now.
  ///
  /// Call this before each drawing: the kernel sends no signal when a shell moves a running program to the background
  /// or back.
  public static func hold() -> TerminalHold { TerminalRescue.hold() }

  /// Restores the old mode of the terminal now, and not when the value goes away.
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
