import CommandKit
import RegentPlatform

extension PairScreen {
  /// Draws the provider picker: the filter text, the matching providers, and how many more there are.
  func draw(_ picker: ProviderPicker, on canvas: inout Canvas, in area: Area) {
    let column = area.column + margin
    let width = area.columns - 2 * margin
    canvas.write(texts[.chooseProvider], row: area.row, column: column, style: .bold, width: width)
    let label = texts[.search] + " "
    let search = area.row + (area.rows > 8 ? 2 : 1)
    let start = column + canvas.write(label, row: search, column: column, width: width)
    let typed = tail(of: picker.query, width: max(0, width - (start - column) - 1))
    let used = canvas.write(typed, row: search, column: start, style: .accent)
    canvas.put(Cell(glyph: " ", style: .reversed), row: search, column: start + used)

    let first = search + (area.rows > 8 ? 2 : 1)
    let room = max(0, area.row + area.rows - first)
    let matching = picker.matching
    guard !matching.isEmpty else {
      canvas.write(texts[.noProvider], row: first, column: column, width: width)
      canvas.cursor = (search, min(start + used, size.columns - 1))
      return
    }
    // If not all providers fit, the last line says how many more there are.
    let shown = matching.count <= room ? matching.count : max(1, room - 1)
    let top = min(max(0, picker.selection - shown / 2), max(0, matching.count - shown))
    for (place, provider) in matching[top..<min(matching.count, top + shown)].enumerated() {
      let isSelected = top + place == picker.selection
      let text = (isSelected ? "› " : "  ") + provider.name
      let style: Style = isSelected ? .reversed : provider.isFeatured ? .bold : .plain
      canvas.write(padding(text, canvas, width), row: first + place, column: column, style: style)
      if isSelected { canvas.cursor = (first + place, column) }
    }
    if shown < matching.count {
      canvas.write(
        texts[.moreProviders, ["count": String(matching.count - shown)]], row: first + shown,
        column: column + 2, style: .faint, width: width)
    }
  }

  /// Pads the selected line with spaces, so that its marking is as wide as the list.
  private func padding(_ text: String, _ canvas: Canvas, _ width: Int) -> String {
    let shown = canvas.shown(text, in: width)
    return shown + String(repeating: " ", count: max(0, min(width, 50) - displayWidth(shown)))
  }

  /// The end of the filter text, if the text is too long to show.
  ///
  /// The end is shown because the viewer types there.
  private func tail(of text: String, width: Int) -> String {
    var scalars = text.unicodeScalars[...]
    while displayWidth(String(scalars)) > width, !scalars.isEmpty { scalars.removeFirst() }
    return String(scalars)
  }
}
