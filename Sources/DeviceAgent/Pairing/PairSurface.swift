import CommandKit
import RegentPlatform

/// A display of a sign-in: the whole terminal, or lines of text.
protocol PairSurface: Sendable {
  /// Whether the display shows the remaining time, and so must be redrawn regularly.
  var showsTime: Bool { get }
  /// Whether another program uses the terminal now. If so, this must be checked again soon.
  var isElsewhere: Bool { get }
  /// Displays the current state of the sign-in. Called after every input.
  func show(_ view: PairView, now: Int64)
  /// Reports an event of the sign-in, once.
  func tell(_ event: PairEvent)
  /// Makes the next `show` redraw the whole display.
  func invalidate()
}

/// Prints a line for each event of a sign-in, for pipes, logs and launchers.
final class LineSurface: PairSurface {
  private let console: Console
  private let texts: Texts
  private let wantsJSON: Bool
  private let onLoss: @Sendable () -> Void

  /// Prints lines on `console`; `onLoss` is called for each line that could not be written.
  init(
    _ console: Console, _ language: Language, wantsJSON: Bool,
    onLoss: @escaping @Sendable () -> Void = {}
  ) {
    self.onLoss = onLoss
    self.console = console
    texts = Texts(language)
    self.wantsJSON = wantsJSON
  }

  var showsTime: Bool { false }
  var isElsewhere: Bool { false }
  func show(_ view: PairView, now: Int64) {}
  func invalidate() {}

  func tell(_ event: PairEvent) {
    if wantsJSON {
      console.print(json: event.document)
    } else if case .error = event {
      for line in event.lines(texts) { console.note(line) }
    } else {
      console.print(lines: event.lines(texts))
    }
    // The launcher must get the line at once, not when the buffer is full.
    if !console.flush() { onLoss() }
  }
}

/// Draws the sign-in on the whole terminal.
final class ScreenSurface: PairSurface {
  private let stream: OutputStream
  private let capabilities: TerminalCapabilities
  private let language: Language
  private let size: @Sendable () -> WindowSize?
  private let hold: @Sendable () -> TerminalHold
  private let absence = Locked(false)
  private let drawn = Locked<Canvas?>(nil)

  /// The bytes to write to the terminal first: they switch to the alternate screen, hide the cursor and turn off
  /// wrapping.
  static let greeting = Array("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[0m\u{1b}[2J".utf8)
  /// The bytes that undo ``greeting`` on the terminal.
  ///
  /// A console without an alternate screen is cleared.
  static let farewell = Array("\u{1b}[0m\u{1b}[2J\u{1b}[H\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l".utf8)

  init(
    _ stream: OutputStream, capabilities: TerminalCapabilities, language: Language,
    size: @escaping @Sendable () -> WindowSize?,
    hold: @escaping @Sendable () -> TerminalHold = { .held }
  ) {
    self.hold = hold
    self.stream = stream
    self.capabilities = capabilities
    self.language = language
    self.size = size
  }

  var showsTime: Bool { true }
  var isElsewhere: Bool { absence.withLock { $0 } }
  func tell(_ event: PairEvent) {}
  func invalidate() { drawn.withLock { $0 = nil } }

  func show(_ view: PairView, now: Int64) {
    let hold = hold()
    absence.withLock { $0 = hold == .elsewhere }
    if hold != .held { invalidate() }
    guard hold != .elsewhere else { return }
    let size = size() ?? WindowSize(rows: 25, columns: 80)
    let screen = PairScreen(size: size, capabilities: capabilities, language: language)
    let canvas = screen.canvas(of: view, now: now)
    let bytes = drawn.withLock { drawn in
      defer { drawn = canvas }
      return ScreenDiff.bytes(from: drawn, to: canvas, depth: capabilities.depth)
    }
    // If the terminal was closed, the program gets a signal, so a write error is ignored here.
    if !bytes.isEmpty { _ = stream.write(bytes) }
  }
}
