/// Rows for people: columns lined up by what is seen, cut where the terminal ends.
///
/// Cells are made harmless here, whoever wrote them. Programs read `--json` instead, where nothing is cut.
public struct Table: Sendable {
  /// How one column is shown.
  public struct Column: Sendable {
    let heading: String
    let isRight: Bool
    let mayShrink: Bool

    /// A column; one that is never cut suits ids, which people copy.
    public init(_ heading: String, right: Bool = false, neverCut: Bool = false) {
      self.heading = heading
      isRight = right
      mayShrink = !neverCut && !right
    }
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

  /// The lines, at most `width` columns where that can be done; nil cuts nothing.
  public func lines(width: Int?) -> [String] {
    let headings = columns.map(\.heading)
    var widths = columns.indices.map { column in
      ([headings] + rows).map { displayWidth($0[column]) }.max() ?? 0
    }
    if let width { shrink(&widths, to: width) }
    return ([headings] + rows).map { cells in
      let line = columns.indices.map { column in
        padded(
          truncated(cells[column], to: widths[column]), to: widths[column],
          atStart: columns[column].isRight)
      }.joined(separator: gap)
      return line.trimmingTrailingSpaces
    }
  }

  private var gap: String { "  " }
  /// Below that a cut cell says nothing any more.
  private var narrowest: Int { 8 }

  /// Takes from the widest column again and again.
  private func shrink(_ widths: inout [Int], to width: Int) {
    var surplus = widths.reduce(0, +) + gap.count * (widths.count - 1) - width
    while surplus > 0 {
      let candidates = widths.indices.filter { columns[$0].mayShrink && widths[$0] > narrowest }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { return }
      widths[widest] -= 1
      surplus -= 1
    }
  }
}

extension String {
  var trimmingTrailingSpaces: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
