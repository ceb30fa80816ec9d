extension QRCode {
  /// The code as an SVG document of one unit a module: dark modules are strokes of one path on a white ground.
  ///
  /// It has no size of its own and fills what it is put into. `title` is read aloud by screen readers.
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

  /// A stroke of width one through the middle of each run of dark modules.
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

/// Text between tags; characters that XML forbids become U+FFFD.
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
