/// A table for people: columns aligned by display width, never wider than the terminal.
///
/// The table escapes its cells. Other programs should use `--json`, which cuts nothing.
public struct Table: Sendable {
  public struct Column: Sendable {
    /// The content of a column, which decides how it is shortened on a narrow terminal.
    public enum Kind: Sendable {
      /// A column of text, which is cut with `…` at the end.
      case text
      /// A column of numbers, aligned to the right and never cut.
      case number
      /// A column of names that users copy, never cut.
      case name
      /// A column of ids, whose beginning commands accept too. The ids are shortened to `shortest` characters, or more
      /// if two would look alike.
      case id(shortest: Int)
      /// A column of RFC 3339 times, which are shortened by the seconds.
      case time
    }

    let heading: String
    let kind: Kind

    public init(_ heading: String, _ kind: Kind = .text) {
      self.heading = heading
      self.kind = kind
    }

    var isRight: Bool { if case .number = kind { true } else { false } }
    var mayBeCut: Bool { if case .text = kind { true } else { false } }
  }

  private let columns: [Column]
  private var rows: [[String]] = []

  public init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row to the table.
  ///
  /// Missing cells are empty, and extra cells are dropped.
  public mutating func add(_ cells: [String]) {
    rows.append(columns.indices.map { $0 < cells.count ? harmless(cells[$0]) : "" })
  }

  public var count: Int { rows.count }

  /// The lines of the table, at most `width` columns wide; nil cuts nothing.
  ///
  /// If there is not enough room, ids are shortened first, then times, then text is cut.
  public func lines(width: Int?) -> [String] {
    var rows = [columns.map(\.heading)] + rows
    var widths = widths(of: rows)
    guard let width else { return lines(rows, widths) }
    for shorten in [shortenIDs, shortenTimes] where total(widths) > width {
      shorten(&rows)
      widths = self.widths(of: rows)
    }
    // A cell of fewer than eight columns says little, but a wrapped line is worse.
    for narrowest in [8, 4, 1] { shrink(&widths, to: width, narrowest) }
    return lines(rows, widths).map { truncated($0, to: width) }
  }

  private var gap: String { "  " }

  private func widths(of rows: [[String]]) -> [Int] {
    columns.indices.map { column in rows.map { displayWidth($0[column]) }.max() ?? 0 }
  }

  private func total(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + gap.count * (widths.count - 1)
  }

  private func lines(_ rows: [[String]], _ widths: [Int]) -> [String] {
    rows.map { cells in
      let line = columns.indices.map { column in
        padded(
          truncated(cells[column], to: widths[column]), to: widths[column],
          atStart: columns[column].isRight)
      }.joined(separator: gap)
      return line.trimmingTrailingSpaces
    }
  }

  private func shortenIDs(_ rows: inout [[String]]) {
    for (column, declared) in columns.enumerated() {
      guard case .id(let shortest) = declared.kind else { continue }
      let length = distinctLength(of: rows.dropFirst().map { $0[column] }, shortest)
      for row in rows.indices.dropFirst() {
        rows[row][column] = String(rows[row][column].prefix(length))
      }
    }
  }

  private func shortenTimes(_ rows: inout [[String]]) {
    for (column, declared) in columns.enumerated() {
      guard case .time = declared.kind else { continue }
      for row in rows.indices.dropFirst() { rows[row][column] = withoutSeconds(rows[row][column]) }
    }
  }

  /// Narrows the widest column by one, again and again, until the table fits.
  private func shrink(_ widths: inout [Int], to width: Int, _ narrowest: Int) {
    var surplus = total(widths) - width
    while surplus > 0 {
      let candidates = widths.indices.filter { columns[$0].mayBeCut && widths[$0] > narrowest }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { return }
      widths[widest] -= 1
      surplus -= 1
    }
  }
}

/// The number of characters that distinguishes these ids, at least `shortest`.
private func distinctLength(of ids: [String], _ shortest: Int) -> Int {
  let sorted = Set(ids).sorted()
  return zip(sorted, sorted.dropFirst()).reduce(shortest) { length, pair in
    max(length, zip(pair.0, pair.1).prefix { $0 == $1 }.count + 1)
  }
}

/// Shortens `2026-11-20T12:34:56Z` to `2026-11-20T12:34Z`; other texts stay.
private func withoutSeconds(_ time: String) -> String {
  guard time.utf8.count == 20, time.hasSuffix("Z"), time.dropFirst(10).first == "T" else {
    return time
  }
  return "\(time.prefix(16))Z"
}

extension String {
  var trimmingTrailingSpaces: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
