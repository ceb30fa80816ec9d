import CommandKit

/// How far a long change has come: the lines of its steps where they are read at a terminal, else a count on standard
/// error.
final class StepProgress {
  private let console: Console
  private let total: Int
  private var done = 0

  init(_ console: Console, of total: Int) {
    self.console = console
    self.total = total
  }

  /// One more is done.
  func step() {
    done += 1
    if console.output.isTerminal {
      console.flush()
    } else if console.errors.isTerminal, done % 20 == 0 {
      console.drawNote("\r\u{1b}[K\(done) of \(total)")
    }
  }

  /// Takes the count away.
  func end() {
    if !console.output.isTerminal, console.errors.isTerminal, done >= 20 { console.drawNote("\r\u{1b}[K") }
  }
}
