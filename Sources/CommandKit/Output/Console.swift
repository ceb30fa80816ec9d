internal import RegentPlatform

/// Where a command speaks: standard output for what was asked for, standard error for everything else.
///
/// Output is collected and written in few calls; messages go out at once, after what was printed before them. All
/// text is made ``harmless(_:)`` on its way, except what is drawn.
public final class Console: Sendable {
  /// Standard output.
  public let output: OutputStream
  /// Standard error.
  public let errors: OutputStream
  private let state = Locked(ConsoleState())

  private struct ConsoleState {
    var pending: [UInt8] = []
    var failure: ConsoleFailure?
  }

  /// A console on two ports; programs use ``system``, tests make their own.
  public init(output: OutputStream, errors: OutputStream) {
    self.output = output
    self.errors = errors
  }

  /// The console of this process.
  public static let system = Console(output: .descriptor(1), errors: .descriptor(2))

  /// Prints one line, without what would steer the terminal.
  public func print(_ line: String = "") {
    append(harmless(line) + "\n")
  }

  /// Prints lines, each as harmless as one alone.
  public func print(lines: some Sequence<String>) {
    for line in lines { print(line) }
  }

  /// Prints one line of a list, which goes on in the next lines where a terminal is too narrow.
  ///
  /// - Parameters:
  ///   - line: the whole line.
  ///   - short: the line for a terminal that is too narrow for it; what does not fit goes on two columns further in.
  public func print(_ line: String, short: @autoclosure () -> String) {
    let whole = harmless(line)
    guard let columns = output.columns(), displayWidth(whole) > columns else {
      return append(whole + "\n")
    }
    for line in folded(harmless(short()), columns) { append(line + "\n") }
  }

  /// Prints a table, cut to the terminal's width when there is a terminal.
  public func print(_ table: Table) {
    // The cells are harmless already, and so are headings that a program wrote.
    for line in table.lines(width: output.columns()) { append(line + "\n") }
  }

  /// Writes our own text as it is: colours, pictures, cursor movements; never a stranger's text.
  public func draw(_ text: String) {
    append(text)
  }

  /// Says one line on standard error at once.
  public func note(_ line: String) {
    flush()
    _ = errors.write(Array((harmless(line) + "\n").utf8))
  }

  /// Draws on standard error at once, for what replaces itself.
  public func drawNote(_ text: String) {
    flush()
    _ = errors.write(Array(text.utf8))
  }

  /// Writes out what was printed; the first failure is remembered for ``finish()``.
  ///
  /// - Returns: false when something could not be written, now or earlier.
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

  /// Writes out what was printed and reports a full disk or a closed pipe, once.
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

/// Standard output did not take what was printed.
public struct ConsoleFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kernel's number for the reason.
  public let code: Int32

  /// A sentence.
  public var description: String { "cannot write to standard output: \(reasonText(of: code))" }
}
