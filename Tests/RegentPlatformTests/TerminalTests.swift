import Glibc
import RegentPlatform
import TestSupport
import Testing

/// Serialized, because `TerminalSession` allows one session at a time.
@Suite(.serialized) struct TerminalTests {
  @Test(
    arguments: [
      ("return", 0, 0), ("exit", 0, 7), ("trap", 0, 128 + SIGILL), ("abort", 0, 128 + SIGABRT),
      ("TERM", SIGTERM, 128 + SIGTERM), ("INT", SIGINT, 128 + SIGINT),
      ("HUP", SIGHUP, 128 + SIGHUP), ("QUIT", SIGQUIT, 128 + SIGQUIT),
    ] as [(String, Int32, Int32)])
  func `the terminal's mode is restored however the program ends`(ending: String, signal: Int32, status: Int32) throws {
    try withTemporaryFolder { folder in
      let terminal = try PseudoTerminal()
      let before = try terminal.localFlags()
      let probe = try RunningProgram(
        builtProgram("PlatformProbe"), ["terminal", terminal.path, ending],
        environment: ["SWIFT_BACKTRACE": "enable=no"], standardOutput: "\(folder)/out")
      if signal != 0 {
        _ = try eventually("readiness") { try? readFile("\(folder)/out").first }
        #expect(try terminal.localFlags() & tcflag_t(ICANON | ECHO) == 0)
        probe.signal(signal)
      }
      #expect(try probe.wait() == status)
      #expect(try terminal.localFlags() == before)
      #expect(try terminal.shows("<in><out>"))
    }
  }

  @Test func `after a stop and a continue the terminal has the mode again and is redrawn`() throws {
    try withTemporaryFolder { folder in
      let terminal = try PseudoTerminal()
      let before = try terminal.localFlags()
      let probe = try RunningProgram(
        builtProgram("PlatformProbe"), ["terminal", terminal.path, "stay"],
        standardOutput: "\(folder)/out")
      _ = try eventually("readiness") { try? readFile("\(folder)/out").first }
      probe.signal(SIGTSTP)
      _ = try eventually("the stop") {
        let stat = try readFile("/proc/\(probe.pid)/stat")
        return String(decoding: stat, as: UTF8.self).contains(") T ") ? true : nil
      }
      #expect(try terminal.localFlags() == before)
      probe.signal(SIGCONT)
      _ = try eventually("the terminal to have the mode again") {
        try terminal.localFlags() & tcflag_t(ICANON) == 0 ? true : nil
      }
      probe.signal(SIGTERM)
      #expect(try probe.wait() == 128 + SIGTERM)
      #expect(try terminal.localFlags() == before)
      #expect(try terminal.shows("<in><out><in><out>"))
    }
  }

  @Test func `a second terminal session is refused while the first is active`() throws {
    let terminal = try PseudoTerminal()
    let device = try FileDescriptor.open(terminal.path, O_RDWR | O_NOCTTY)
    let session = try TerminalSession(on: device.number, mode: .keys)
    #expect(throws: SystemError.self) {
      _ = try TerminalSession(on: device.number, mode: .raw)
    }
    session.end()
    try TerminalSession(on: device.number, mode: .raw).end()
  }

  @Test func `a file is not a terminal`() throws {
    try withTemporaryFolder { folder in
      let file = try FileDescriptor.open("\(folder)/file", O_RDWR | O_CREAT)
      #expect(!Terminal.isTerminal(file.number))
      #expect(WindowSize(of: file.number) == nil)
      #expect(throws: SystemError.self) {
        _ = try TerminalSession(on: file.number, mode: .keys)
      }
    }
  }

  @Test func `the window size is read from the terminal and limited`() throws {
    let terminal = try PseudoTerminal()
    let device = try FileDescriptor.open(terminal.path, O_RDWR | O_NOCTTY)
    #expect(WindowSize(of: device.number) == nil)
    terminal.resize(rows: 25, columns: 80)
    #expect(WindowSize(of: device.number) == WindowSize(rows: 25, columns: 80))
    // The program at the other end of a terminal may set any size.
    terminal.resize(rows: 65_535, columns: 65_535)
    #expect(WindowSize(of: device.number) == WindowSize.largest)
    terminal.resize(rows: 3, columns: 65_535)
    #expect(
      WindowSize(of: device.number) == WindowSize(rows: 3, columns: WindowSize.largest.columns))
    #expect(Terminal.isTerminal(device.number))
  }

  @Test func `a password is read from the terminal and never shown`() throws {
    let terminal = try PseudoTerminal()
    let before = try terminal.localFlags()
    let typist = Thread {
      _ = try? eventually("the terminal hides what is typed") {
        try terminal.localFlags() & tcflag_t(ECHO) == 0
      }
      terminal.type("s3cr\u{e8}t\n")
    }
    let line = try HiddenLine.read(prompt: "Password: ", terminal: terminal.path)
    typist.join()
    #expect(line == Array("s3cr\u{e8}t".utf8))
    #expect(try terminal.localFlags() == before)
    #expect(try terminal.shows("Password: \r\n"))
  }

  @Test func `a password longer than the limit is refused`() throws {
    let terminal = try PseudoTerminal()
    terminal.type("123456789\n")
    let error = #expect(throws: SystemError.self) {
      try HiddenLine.read(prompt: "", limit: 8, terminal: terminal.path)
    }
    #expect(error?.code == EMSGSIZE)
  }

  @Test func `keys are read from a terminal, and a single escape after a short pause`() async throws {
    let terminal = try PseudoTerminal()
    let device = try FileDescriptor.open(terminal.path, O_RDWR | O_NOCTTY)
    let session = try TerminalSession(on: device.number, mode: .keys)
    terminal.type("q\u{1b}[Añ\u{1b}")
    let keys = try KeyListener.stream(on: device.number)
    for expected in [.character("q"), .up, .character("ñ"), .escape] as [Key] {
      #expect(try await keys.next("the key \(expected)") == expected)
    }
    session.end()
  }
}

/// A pseudo terminal whose master end is controlled by the test.
final class PseudoTerminal: Sendable {
  private let master: Int32
  let path: String

  init() throws {
    master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var lock: Int32 = 0
    var number: UInt32 = 0
    // Swift's Glibc module lacks unlockpt and ptsname_r, which make these two ioctl calls.
    let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    guard master >= 0, unsafe ioctl(master, setLock, &lock) == 0,
      unsafe ioctl(master, getNumber, &number) == 0
    else { throw TestSupportError("no pseudo terminal: errno \(errno)") }
    path = "/dev/pts/\(number)"
  }

  deinit { close(master) }

  func localFlags() throws -> tcflag_t {
    var mode = termios()
    guard unsafe tcgetattr(master, &mode) == 0 else {
      throw TestSupportError("no mode: errno \(errno)")
    }
    return mode.c_lflag
  }

  func resize(rows: UInt16, columns: UInt16) {
    var size = winsize()
    (size.ws_row, size.ws_col) = (rows, columns)
    _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(master, bytes, bytes.count)
  }

  /// Waits until the expected bytes were written to the terminal, and returns whether nothing else was.
  func shows(_ expected: String) throws -> Bool {
    _ = fcntl(master, F_SETFL, fcntl(master, F_GETFL) | O_NONBLOCK)
    var seen: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4_096)
    return try eventually("output on the terminal") {
      let count = unsafe read(master, &bytes, bytes.count)
      if count > 0 { seen += bytes.prefix(count) }
      return seen.count >= expected.utf8.count ? seen.elementsEqual(expected.utf8) : nil
    }
  }
}
