internal import Glibc
internal import RegentPlatform

/// Questions to the user at the terminal.
public enum Prompt {
  /// The maximum length of a typed line in bytes.
  public static let longest = 1_024

  /// How often a new password is asked for if the user types it differently the second time.
  private static let tries = 3

  /// How often a question is repeated after invalid answers.
  private static let mostAnswers = 5

  /// Reads a password from the terminal, or the first line of standard input if that is not a terminal.
  ///
  /// - Parameters:
  ///   - prompt: the text of the question, such as "password of anna".
  ///   - twice: whether the user must type it twice, for a new password.
  /// - Returns: the bytes of the password.
  /// - Throws: ``CommandError`` if there is no password, or if the two inputs differ.
  public static func password(_ prompt: String, twice: Bool = false) throws(CommandError) -> [UInt8] {
    guard Terminal.isTerminal(0) else { return try firstLine(of: 0, prompt) }
    for _ in 0..<tries {
      let first = try ask("\(harmless(prompt)): ")
      guard twice else { return first }
      if try ask("\(harmless(prompt)), again: ") == first { return first }
      Console.system.note("the two passwords differ; try again")
    }
    throw CommandError(
      "the two passwords differ", hint: "run the command again, or pass the password on standard input")
  }

  /// Reads a line that is shown while typing; without a terminal it returns the default.
  ///
  /// - Parameters:
  ///   - question: the text of the question, such as "the provider's id".
  ///   - usual: the default, for an empty line.
  ///   - option: the command-line option that the error message names.
  ///   - call: the invocation.
  /// - Returns: the typed line, or the default.
  /// - Throws: ``CommandError`` if there is neither an answer nor a default.
  public static func line(
    _ question: String, usual: String?, orGive option: String, _ call: Invocation
  ) throws(CommandError) -> String {
    guard call.canAsk else {
      if let usual { return usual }
      throw CommandError.usage("no answer to: \(question)", hint: "add \(option)")
    }
    return try text(of: try typed(question, usual, orGive: option, call), question, usual, option)
  }

  /// Reads a line and repeats the question, with the problem, until `take` accepts the answer.
  ///
  /// Without a terminal only the default is used. After the last attempt the last problem is thrown; the end of the
  /// input is always an error.
  ///
  /// - Parameters:
  ///   - question: the text of the question, such as "the provider's id".
  ///   - usual: the default, for an empty line.
  ///   - option: the command-line option that the error message names.
  ///   - call: the invocation.
  ///   - take: converts an answer, or throws what is wrong with it.
  /// - Returns: the converted answer.
  /// - Throws: ``CommandError`` if no answer was accepted.
  public static func answer<Value>(
    _ question: String, usual: String?, orGive option: String, _ call: Invocation,
    _ take: (String) throws(CommandError) -> Value
  ) throws(CommandError) -> Value {
    guard call.canAsk else { return try take(try line(question, usual: usual, orGive: option, call)) }
    var left = mostAnswers
    while true {
      let bytes = try typed(question, usual, orGive: option, call)
      do throws(CommandError) {
        return try take(try text(of: bytes, question, usual, option))
      } catch {
        left -= 1
        guard left > 0 else { throw error }
        call.console.note(error.message + (error.hint.map { "; \($0)" } ?? ""))
      }
    }
  }

  /// Asks for a confirmation before a command removes data.
  ///
  /// - Parameters:
  ///   - what: what will happen, such as "remove requestor acme and its 3 keys".
  ///   - flag: the flag that confirms in advance, for scripts.
  ///   - call: the invocation, whose command declares the flag.
  /// - Throws: ``CommandError`` without a terminal, or if the answer is not yes.
  public static func confirm(
    _ what: String, unless flag: Input<Bool>, _ call: Invocation
  ) throws(CommandError) {
    if call[flag] { return }
    guard call.canAsk else {
      throw CommandError.usage(
        "this would \(what)", hint: "add \(flag.specification.label) to confirm")
    }
    call.console.drawNote("\(harmless(what))? Type yes to continue: ")
    let answer = try firstLine(of: 0, "an answer")
    guard answer == Array("yes".utf8) else {
      throw CommandError("cancelled: nothing was changed", hint: "type yes to confirm", code: "refused")
    }
  }

  /// Reads a line, which may be empty.
  ///
  /// The end of the input (Ctrl-D) is an error.
  private static func typed(
    _ question: String, _ usual: String?, orGive option: String, _ call: Invocation
  ) throws(CommandError) -> [UInt8] {
    call.console.flush()
    call.console.drawNote("\(harmless(question))\(usual.map { " [\(harmless($0))]" } ?? ""): ")
    if let line = try someLine(of: 0) { return line }
    call.console.drawNote("\n")
    throw CommandError(
      "no answer to: \(question)", hint: "the command stopped here; run it again and answer, or add \(option)")
  }

  private static func text(
    of bytes: [UInt8], _ question: String, _ usual: String?, _ option: String
  ) throws(CommandError) -> String {
    guard !bytes.isEmpty else {
      if let usual { return usual }
      throw CommandError("no answer to: \(question)", hint: "type an answer, or add \(option)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError("the answer is not valid UTF-8", hint: "set the terminal to UTF-8, then run the command again")
    }
    return text
  }

  private static func ask(_ prompt: String) throws(CommandError) -> [UInt8] {
    let line: [UInt8]?
    do throws(SystemError) {
      line = try HiddenLine.read(prompt: prompt, limit: longest)
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    guard let line, !line.isEmpty else {
      throw CommandError("no password was typed", hint: "nothing was changed; run the command again")
    }
    return line
  }

  static func firstLine(of input: Int32, _ prompt: String) throws(CommandError) -> [UInt8] {
    guard let line = try someLine(of: input), !line.isEmpty else {
      throw CommandError(
        "\(prompt) is missing",
        hint: "type it at a terminal, or pass it as the first line of standard input")
    }
    return line
  }

  /// Reads a line, which may be empty; nil at the end of the input.
  private static func someLine(of input: Int32) throws(CommandError) -> [UInt8]? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    var isEnded = false
    do throws(SystemError) {
      // The line is read one byte at a time, because the bytes after it belong to the next reader.
      while try systemCall("read", on: "standard input", { unsafe Glibc.read(input, &byte, 1) })
        == 1
      {
        isEnded = byte == UInt8(ascii: "\n")
        if isEnded { break }
        line.append(byte)
        guard line.count <= longest else {
          throw SystemError(operation: "take", subject: "a line that long", code: EMSGSIZE)
        }
      }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line.isEmpty && !isEnded ? nil : line
  }
}

extension Invocation {
  /// Whether there is a terminal at which the user can be asked.
  public var canAsk: Bool { Terminal.isTerminal(0) && console.errors.isTerminal }
}
