internal import Glibc
internal import RegentPlatform

/// Questions that a command asks the person in front of it.
public enum Prompt {
  /// Longer lines are refused: nobody types them.
  public static let longest = 1_024

  /// How often a new password is asked for whose two forms differ.
  private static let tries = 3

  /// Reads a password: from the terminal when standard input is one, else the first line of standard input.
  ///
  /// With `twice` a person has to type it again, because it is not seen.
  ///
  /// - Parameters:
  ///   - prompt: what is asked for: "password of anna".
  ///   - twice: whether it is a new one.
  /// - Returns: its bytes.
  /// - Throws: ``CommandError`` when there is none, or when the two differ.
  public static func password(_ prompt: String, twice: Bool = false) throws(CommandError) -> [UInt8] {
    guard Terminal.isTerminal(0) else { return try firstLine(of: 0, prompt) }
    for _ in 0..<tries {
      let first = try ask("\(harmless(prompt)): ")
      guard twice else { return first }
      if try ask("\(harmless(prompt)), again: ") == first { return first }
      Console.system.note("the two passwords differ: once more")
    }
    throw CommandError("the two passwords differ", hint: "type it slowly, or give it by standard input")
  }

  /// Asks for a line that may be seen; where nobody sits, the answer is the usual one.
  ///
  /// - Parameters:
  ///   - question: what is asked for: "the provider's id".
  ///   - usual: the answer of who types nothing.
  ///   - option: what says it on the command line.
  ///   - call: the command's call.
  /// - Returns: what was typed, or the usual answer.
  /// - Throws: ``CommandError`` when there is no usual answer and nobody types one.
  public static func line(
    _ question: String, usual: String?, orGive option: String, _ call: Invocation
  ) throws(CommandError) -> String {
    guard call.canAsk else {
      if let usual { return usual }
      throw CommandError.usage("\(question) is missing", hint: "give \(option)")
    }
    call.console.flush()
    call.console.drawNote("\(harmless(question))\(usual.map { " [\(harmless($0))]" } ?? ""): ")
    let bytes = try someLine(of: 0)
    guard !bytes.isEmpty else {
      if let usual { return usual }
      throw CommandError("\(question) is missing", hint: "try again, or give \(option)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError("\(question) is not valid UTF-8", hint: "set the terminal to UTF-8")
    }
    return text
  }

  /// Makes sure that somebody means it before something is lost.
  ///
  /// - Parameters:
  ///   - what: what is about to happen: "remove requestor acme and its 3 keys".
  ///   - flag: the flag that says yes beforehand, for scripts.
  ///   - call: the command's call, which declares the flag.
  /// - Throws: ``CommandError`` when nobody is there to ask, or when the answer is not yes.
  public static func confirm(
    _ what: String, unless flag: Input<Bool>, _ call: Invocation
  ) throws(CommandError) {
    if call[flag] { return }
    guard call.canAsk else {
      throw CommandError.usage(
        "this would \(what)", hint: "add \(flag.specification.label) to do it without being asked")
    }
    call.console.drawNote("\(harmless(what))? Type yes to go on: ")
    let answer = try firstLine(of: 0, "an answer")
    guard answer == Array("yes".utf8) else {
      throw CommandError("nothing was done", hint: "the answer was not yes", code: "refused")
    }
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
    let line = try someLine(of: input)
    guard !line.isEmpty else {
      throw CommandError(
        "\(prompt) is missing",
        hint: "type it at a terminal, or give it as the first line of standard input")
    }
    return line
  }

  /// A line, which may be empty, as it is at the end of the input.
  private static func someLine(of input: Int32) throws(CommandError) -> [UInt8] {
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
    return line
  }
}

extension Invocation {
  /// Whether somebody sits in front of it who can be asked.
  public var canAsk: Bool { Terminal.isTerminal(0) && console.errors.isTerminal }
}
