import Glibc

/// Reads a secret from the terminal without showing it.
public enum HiddenLine {
  /// Shows a prompt and reads one line from the terminal itself, even if standard input is redirected.
  ///
  /// Blocks the caller.
  ///
  /// - Parameters:
  ///   - prompt: the text to show, including its colon and space.
  ///   - limit: the longest line in bytes.
  ///   - terminal: the terminal's path.
  /// - Returns: the line without its end; nil when the user has ended the input (Ctrl-D) without typing anything.
  /// - Throws: `SystemError` when there is no terminal; `EMSGSIZE` when the line is longer than the limit.
  public static func read(
    prompt: String, limit: Int = 1_024, terminal: String = "/dev/tty"
  ) throws(SystemError) -> [UInt8]? {
    let device = try FileDescriptor.open(terminal, O_RDWR | O_NOCTTY)
    let session = try TerminalSession(on: device.number, mode: .hidden)
    try device.writeAll(Array(prompt.utf8), to: terminal)
    var line: [UInt8] = []
    while true {
      let byte = try device.read(atMost: 1, from: terminal)
      if byte.isEmpty {
        if line.isEmpty { return nil }
        break
      }
      if byte[0] == UInt8(ascii: "\n") { break }
      line += byte
    }
    session.end()
    guard line.count <= limit else {
      throw SystemError(operation: "take", subject: "a line of \(line.count) bytes", code: EMSGSIZE)
    }
    return line
  }
}
