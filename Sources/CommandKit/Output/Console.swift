internal import RegentPlatform

/// The output of a command: results on standard output, everything else on standard error.
///
/// Output is buffered. A message on standard error is written at once, after the buffered output. All text is escaped
/// by ``harmless(_:)``, except the text of ``draw(_:)`` and ``drawNote(_:)``.
public final class Console: Sendable {
  public let output: OutputStream
  public let errors: OutputStream
  private let state = Locked(ConsoleState())

  private struct ConsoleState {
    var pending: [UInt8] = []
    var failure: ConsoleFailure?
  }

  /// Creates a console on two streams.
  ///
  /// Programs use ``system``; tests create their own.
  public init(output: OutputStream, errors: OutputStream) {
    self.output = output
    self.errors = errors
  }

  public static let system = Console(output: .descriptor(1), errors: .descriptor(2))

  /// Prints one line, with control characters escaped.
  public func print(_ line: String = "") {
    append(harmless(line) + "\n")
  }

  /// Prints lines, with control characters escaped.
  public func print(lines: some Sequence<String>) {
    for line in lines { print(line) }
  }

  /// Prints one line of a list, wrapped if the terminal is too narrow.
  ///
  /// - Parameters:
  ///   - line: the full line.
  ///   - short: a shorter form of the line, for a terminal that is too narrow for the full one.
  public func print(_ line: String, short: @autoclosure () -> String) {
    let whole = harmless(line)
    guard let columns = output.columns(), displayWidth(whole) > columns else {
      return append(whole + "\n")
    }
    for line in folded(harmless(short()), columns) { append(line + "\n") }
  }

  /// Prints a table, cut to the width of the terminal if there is one.
  public func print(_ table: Table) {
    // The table's lines are not escaped again, because the table escapes its cells and the program wrote the headings.
    for line in table.lines(width: output.columns()) { append(line + "\n") }
  }

  /// Writes text without escaping it, for colours, pictures and cursor movements.
  ///
  /// Never pass text from outside.
  public func draw(_ text: String) {
    append(text)
  }

  /// Writes one line to standard error at once.
  public func note(_ line: String) {
    flush()
    _ = errors.write(Array((harmless(line) + "\n").utf8))
  }

  /// Writes text without escaping to standard error at once, for lines that replace themselves.
  public func drawNote(_ text: String) {
    flush()
    _ = errors.write(Array(text.utf8))
  }

  /// Writes the buffer; the first failure is kept for ``finish()``.
  ///
  /// - Returns: false if writing failed, now or earlier.
  @discardableResult
  public func flush() -> Bool {
    state.withLock { state in
      guard !state.pending.isEmpty else { return state.failure == nil }
      let code = output.write(state.pending)
      if code != 0, state.failure == nil { state.failure = ConsoleFailure(code: code) }
      state.pending = []
      return state.failure == nil
    }
  }

  /// Writes the buffer and throws the first failure, such as a full disk or a closed pipe.
  public func finish() throws(ConsoleFailure) {
    flush()
    let failure = state.withLock { state in
      defer { state.failure = nil }
      return state.failure
    }
    if let failure { throw failure }
  }

  private func append(_ text: String) {
    let isLarge = state.withLock { state in
      state.pending += text.utf8
      return state.pending.count > 1 << 16
    }
    if isLarge { flush() }
  }
}

/// The error when writing to standard output failed.
public struct ConsoleFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// The `errno` value of the failed write.
  public let code: Int32

  public var description: String { "cannot write to standard output: \(reasonText(of: code))" }
}
