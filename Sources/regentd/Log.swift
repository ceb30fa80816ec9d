import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPlatform
import Synchronization

/// The format of log lines.
enum LogFormat: String, CaseIterable, Sendable {
  case text, json
}

/// Writes each event as one line with a single `write`, so that lines of different threads do not mix.
///
/// Values may come from outside: line breaks and control characters are escaped. Only texts and numbers that the caller
/// names can be logged, so that no secret is logged by accident.
struct Log: Sendable {
  enum Level: Int, Sendable {
    // The severity numbers of syslog, which journald reads at the beginning of a line.
    case error = 3
    case warning = 4
    case info = 6
  }

  private let format: LogFormat
  private let stream: OutputStream
  /// Whether the reader is journald, which adds the time itself and expects the severity in front.
  private let isJournal: Bool
  private let now: @Sendable () -> Int64
  private let lost = LostLines()

  init(
    _ format: LogFormat, to stream: OutputStream, isJournal: Bool,
    now: @escaping @Sendable () -> Int64 = Clocks.wallMilliseconds
  ) {
    self.format = format
    self.stream = stream
    self.isJournal = isJournal
    self.now = now
  }

  func info(_ event: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
    write(.info, event, fields)
  }

  func warning(_ event: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
    write(.warning, event, fields)
  }

  /// Returns a function to call with true while a problem lasts and with false afterwards.
  ///
  /// It logs `event` with the hint when the problem begins, and `end` when it ends.
  func trouble(_ event: StaticString, over end: StaticString, hint: String) -> @Sendable (_ isSo: Bool) -> Void {
    { isSo in if isSo { warning(event, ["hint": .text(hint)]) } else { info(end) } }
  }

  func error(_ event: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
    write(.error, event, fields)
  }

  /// Writes a line with fields from another module.
  func line(_ level: Level, _ event: StaticString, _ fields: [(String, String)]) {
    write(level, event, fields.map { (key: $0.0, value: .text($0.1)) })
  }

  private func write(
    _ level: Level, _ event: StaticString, _ fields: KeyValuePairs<String, LogValue>
  ) {
    write(level, event, fields.map { (key: $0.key, value: $0.value) })
  }

  private func write(
    _ level: Level, _ event: StaticString, _ fields: [(key: String, value: LogValue)]
  ) {
    let line =
      switch format {
      case .text: textLine(level, event, fields)
      case .json: jsonLine(level, event, fields)
      }
    // If the log cannot be written, the number of lost lines is logged when it can be written again.
    guard stream.write(Array((line + "\n").utf8)) == 0 else {
      lost.add(1)
      return
    }
    let missing = lost.take()
    if missing > 0 { warning("log-lines-lost", ["count": .number(Int64(missing))]) }
  }

  private func textLine(
    _ level: Level, _ event: StaticString, _ fields: [(key: String, value: LogValue)]
  ) -> String {
    let start =
      isJournal
      ? "<\(level.rawValue)>"
      : "\(CivilDate.text(epochMilliseconds: now(), fraction: true)) \(level) "
    return fields.reduce("\(start)\(event)") { line, field in
      "\(line) \(field.key)=\(field.value.asText)"
    }
  }

  private func jsonLine(
    _ level: Level, _ event: StaticString, _ fields: [(key: String, value: LogValue)]
  ) -> String {
    var line: JSONObject = [
      "time": .integer(now()), "level": .string("\(level)"), "event": .string("\(event)"),
    ]
    for (key, value) in fields { line[key] = value.asJSON }
    return harmlessJSON(.object(line))
  }
}

/// The number of lines lost since the last successful write.
private final class LostLines: Sendable {
  private let count = Atomic<Int>(0)

  func add(_ more: Int) { count.add(more, ordering: .relaxed) }
  func take() -> Int {
    count.load(ordering: .relaxed) == 0 ? 0 : count.exchange(0, ordering: .relaxed)
  }
}

enum LogValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case text(String)
  case number(Int64)

  init(stringLiteral text: String) { self = .text(text) }
  init(integerLiteral number: Int64) { self = .number(number) }

  fileprivate var asJSON: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): .integer(number)
    }
  }

  /// The value as it appears in a log line; in quotation marks if a reader could not see where the value ends.
  fileprivate var asText: String {
    switch self {
    case .number(let number): return String(number)
    case .text(let text):
      if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
      // The text's own backslashes are escaped first, so that a single backslash always comes from `harmless`. Scalars
      // are compared, because a quote with a combining mark is another `Character` but still a quote for a parser.
      let escaped = text.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }
        .joined()
      return "\"\(harmless(escaped))\""
    }
  }
}

private func isPlain(_ byte: UInt8) -> Bool {
  byte > 0x20 && byte < 0x7f && !#"\"="#.utf8.contains(byte)
}
