extension QRCode {
  /// The QR code as an SVG document with one unit for each module: a path of dark strokes on a white background.
  ///
  /// The document has no size of its own; it fills the element that contains it. Screen readers read `title` aloud.
  public func svg(title: String? = nil, quietZone: Int = QRCode.standardQuietZone) -> String {
    let margin = max(0, quietZone)
    let width = side + 2 * margin
    let name = title.map { "<title>\(escaped($0))</title>" } ?? ""
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(width)" role="img" \
      shape-rendering="crispEdges">\(name)<path fill="#fff" d="M0 0h\(width)v\(width)H0z"/>\
      <path stroke="#000" d="\(strokes(margin: margin))"/></svg>

      """
  }

  /// The data of the SVG path: a stroke of width 1 through the middle of each run of dark modules.
  private func strokes(margin: Int) -> String {
    var path = ""
    for y in 0..<side {
      for run in darkRuns(inRow: y) {
        path += "M\(run.lowerBound + margin) \(y + margin).5h\(run.count)"
      }
    }
    return path
  }
}

/// Escapes a text for use between XML tags.
///
/// Replaces characters that XML forbids with U+FFFD.
private func escaped(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "&": result += "&amp;"
    case "\t", "\n", " "..."\u{fffd}", "\u{10000}"...: result.unicodeScalars.append(scalar)
    default: result += "\u{fffd}"
    }
  }
  return result
}
