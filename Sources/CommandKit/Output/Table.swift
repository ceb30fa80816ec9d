/// Rows for people: columns lined up by what is seen, never wider than the terminal.
///
/// Cells are made harmless here, whoever wrote them. Programs read `--json` instead, where nothing is cut.
public struct Table: Sendable {
  /// How one column is shown.
  public struct Column: Sendable {
    /// What stands in a column: it decides what gives way where the terminal is too narrow.
    public enum Kind: Sendable {
      /// Text for people: cut, with `…` for the rest.
      case text
      /// Numbers, aligned right: whole.
      case number
      /// Names that people copy and nothing else stands for: whole.
      case name
      /// Ids that commands take by their beginning, too: so many letters, more where two would look alike.
      case id(shortest: Int)
      /// Times as RFC 3339: without their seconds.
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

  /// An empty table; numbers belong in columns that are aligned right.
  public init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row; missing cells are empty, cells without a column are dropped.
  public mutating func add(_ cells: [String]) {
    rows.append(columns.indices.map { $0 < cells.count ? harmless(cells[$0]) : "" })
  }

  /// How many rows there are.
  public var count: Int { rows.count }

  /// The lines, none wider than `width`; nil cuts nothing.
  ///
  /// Where there is no room, what can be had in another way gives way first: ids are shortened, then times lose their
  /// seconds, then text is cut.
  public func lines(width: Int?) -> [String] {
    var rows = [columns.map(\.heading)] + rows
    var widths = widths(of: rows)
    guard let width else { return lines(rows, widths) }
    for shorten in [shortenIDs, shortenTimes] where total(widths) > width {
      shorten(&rows)
      widths = self.widths(of: rows)
    }
    // Below eight columns a cut cell says little, but a line that wraps is worse.
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

  /// Takes from the widest column again and again.
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

/// How many letters of these ids tell them apart, at least `shortest`.
private func distinctLength(of ids: [String], _ shortest: Int) -> Int {
  let sorted = Set(ids).sorted()
  return zip(sorted, sorted.dropFirst()).reduce(shortest) { length, pair in
    max(length, zip(pair.0, pair.1).prefix { $0 == $1 }.count + 1)
  }
}

/// `2026-11-20T12:34Z` of `2026-11-20T12:34:56Z`; what is no such time stays.
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
