import Glibc

/// Asks for a secret on the terminal without showing what is typed.
public enum HiddenLine {
  /// Shows a prompt and reads one line from the terminal itself, so that a redirected input is not taken for a person.
  ///
  /// The calling thread waits for the person.
  ///
  /// - Parameters:
  ///   - prompt: what to show, with its colon and space.
  ///   - limit: the most bytes of a line.
  ///   - terminal: the terminal's path.
  /// - Returns: the line without its end; `nil` when the person ended the input (Ctrl-D) before a line.
  /// - Throws: `SystemError` when there is no terminal, `EMSGSIZE` when the line is longer than the limit.
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
