internal import Glibc
internal import Platform

/// Asking for a password without showing it.
public enum PasswordPrompt {
  /// Longer lines are refused: nobody types them.
  public static let longest = 1_024

  /// Reads a password: from the terminal when standard input is one, else the first line of standard input.
  ///
  /// With `twice` a person has to type it again, because it is not seen.
  ///
  /// - Parameters:
  ///   - prompt: what is asked for: "password of anna".
  ///   - twice: whether it is a new one.
  /// - Returns: its bytes.
  /// - Throws: ``CommandError`` when there is none, or when the two differ.
  public static func read(_ prompt: String, twice: Bool = false) throws(CommandError) -> [UInt8] {
    guard Terminal.isTerminal(0) else { return try firstLine(of: 0, prompt) }
    let first = try ask("\(harmless(prompt)): ")
    if twice, try ask("\(harmless(prompt)), again: ") != first {
      throw CommandError("the two passwords differ", hint: "try again, nothing was changed")
    }
    return first
  }

  private static func ask(_ prompt: String) throws(CommandError) -> [UInt8] {
    let line: [UInt8]?
    do throws(SystemError) {
      line = try HiddenLine.read(prompt: prompt, limit: longest)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    guard let line, !line.isEmpty else {
      throw CommandError("no password was typed", hint: "nothing was changed")
    }
    return line
  }

  static func firstLine(of input: Int32, _ prompt: String) throws(CommandError) -> [UInt8] {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    do throws(SystemError) {
      // Byte by byte: what follows the line belongs to whoever reads next.
      while try systemCall("read", on: "standard input", { unsafe Glibc.read(input, &byte, 1) })
        == 1
      {
        if byte == UInt8(ascii: "\n") { break }
        line.append(byte)
        guard line.count <= longest else {
          throw SystemError(operation: "take", subject: "a line that long", code: EMSGSIZE)
        }
      }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !line.isEmpty else {
      throw CommandError(
        "\(prompt) is missing",
        hint: "type it at a terminal, or give it as the first line of standard input")
    }
    return line
  }
}
