import CommandKit

/// The progress of a long change: at a terminal the lines of its steps, otherwise a counter on standard error.
final class StepProgress {
  private let console: Console
  private let total: Int
  private var done = 0

  init(_ console: Console, of total: Int) {
    self.console = console
    self.total = total
  }

  /// Counts one more step as done.
  func step() {
    done += 1
    if console.output.isTerminal {
      console.flush()
    } else if console.errors.isTerminal, done % 20 == 0 {
      console.drawNote("\r\u{1b}[K\(done) of \(total)")
    }
  }

  /// Removes the counter from the terminal.
  func end() {
    if !console.output.isTerminal, console.errors.isTerminal, done >= 20 { console.drawNote("\r\u{1b}[K") }
  }
}
