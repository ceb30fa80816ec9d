import TestSupport

/// Reads `platform-account.txt` and lists every combination of its columns' values.
struct PlatformTable {
  /// One line of the file: a pattern for each column, and the expected result.
  struct Line {
    let number: Int
    let patterns: [String]
    let told: [String]
    let ownAfter: String
    let children: Int
  }

  /// One combination of values, in the order of the file's columns.
  struct Row: Hashable, CustomStringConvertible {
    var values: [String]
    var description: String { values.joined(separator: " ") }
    var step: String { values[0] }
    var daemon: String { values[1] }
    var permission: String { values[2] }
    var isBoxIn: Bool { values[3] == "in" }
    var isKnown: Bool { values[4] == "yes" }
    var isIntegrated: Bool { values[5] == "on" }
    var hasSSO: Bool { values[6] == "on" }
    var boarding: String { values[7] }
    var isDegraded: Bool { values[8] == "yes" }
    var answer: String { values[9] }
    var own: String { values[10] }
  }

  static let steps = [
    "start", "check", "get", "cancel", "dialog-other", "dialog-quit", "choose-signed", "choose-denied",
    "choose-expired",
    "choose-back", "choose-lacks", "choose-silent", "choose-foreign", "leave", "leave-browser",
  ]
  static let columns: [[String]] = [
    steps, ["none", "stranger", "silent", "failed", "answers"], ["granted", "denied", "undetermined"], ["in", "out"],
    ["yes", "no"], ["on", "off"], ["on", "off"], ["supported", "picker", "none"], ["yes", "no"],
    ["accepted", "refused", "gone", "unreachable", "none"], ["none", "regular", "platform", "expired"],
  ]

  let lines: [Line]

  init() throws {
    let text = String(
      decoding: try readFile(packageFolder() + "/Tests/AccessEnablerTests/Machine/platform-account.txt"), as: UTF8.self)
    var lines: [Line] = []
    for (index, text) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      guard !text.isEmpty, !text.hasPrefix("#") else { continue }
      let parts = text.split(separator: "=>").map { $0.split(separator: " ").map(String.init) }
      guard parts.count == 3, parts[0].count == Self.columns.count, parts[2].count > 3, parts[2][2] == ":",
        let children = Int(parts[2][1])
      else { throw TestSupportError("line \(index + 1) cannot be read: \(text)") }
      lines.append(
        Line(
          number: index + 1, patterns: parts[0], told: parts[1], ownAfter: parts[2][0], children: children))
    }
    self.lines = lines
  }

  /// The first line whose patterns match the row.
  func line(for row: Row) -> Line? {
    lines.first { line in zip(line.patterns, row.values).allSatisfy { Self.fits($1, $0) } }
  }

  private static func fits(_ value: String, _ pattern: String) -> Bool {
    if pattern == "*" { return true }
    if pattern.hasPrefix("!") { return value != pattern.dropFirst() }
    return pattern.split(separator: "|").contains { $0 == value }
  }

  /// Every combination for one step.
  ///
  /// A column that no line of the step restricts contributes only its first and last value.
  func rows(of step: String) -> [Row] {
    let its = lines.filter { Self.fits(step, $0.patterns[0]) }
    return Self.columns.indices.dropFirst().reduce([[step]]) { rows, column in
      let all = Self.columns[column]
      let says = its.contains { $0.patterns[column] != "*" }
      return rows.flatMap { row in (says ? all : [all[0], all[all.count - 1]]).map { row + [$0] } }
    }.map(Row.init).filter(Self.isPossible)
  }

  /// Whether the row can occur: the platform's dialog, for example, is open only where the step that opens it could
  /// run.
  private static func isPossible(_ row: Row) -> Bool {
    switch row.step {
    case "cancel":
      // The ordinary picker is open only after a "get" that shows it.
      return row.own == "none" && row.daemon == "none" || row.own == "none" && row.permission == "denied"
    case let step where step.hasPrefix("dialog") || step.hasPrefix("choose"):
      return row.daemon == "answers" && row.permission == "granted" && !row.isBoxIn && row.own != "regular"
    default: return true
    }
  }
}
