import CommandKit

/// Breaks a text into lines of at most `width` columns, at spaces.
///
/// A word that is longer than a line is broken anywhere.
func wrapped(_ text: String, to width: Int) -> [String] {
  guard width > 0 else { return [] }
  var lines: [String] = []
  var line = ""
  for word in text.split(separator: " ") {
    let candidate = line.isEmpty ? String(word) : line + " " + word
    if displayWidth(candidate) <= width {
      line = candidate
      continue
    }
    if !line.isEmpty { lines.append(line) }
    line = String(word)
    while displayWidth(line) > width {
      let piece = head(of: line, width: width)
      lines.append(piece)
      line = String(line.unicodeScalars.dropFirst(piece.unicodeScalars.count))
    }
  }
  if !line.isEmpty || lines.isEmpty { lines.append(line) }
  return lines
}

/// The longest beginning of the text that fits into the width, but at least one character.
private func head(of text: String, width: Int) -> String {
  var result = String.UnicodeScalarView()
  var used = 0
  for scalar in text.unicodeScalars {
    used += displayWidth(String(scalar))
    if used > width, !result.isEmpty { break }
    result.append(scalar)
  }
  return String(result)
}
