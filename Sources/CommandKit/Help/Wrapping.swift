/// Wraps a text at spaces to a maximum width.
///
/// A word that is wider gets its own line.
func wrapped(_ text: String, _ width: Int) -> [String] {
  var lines: [String] = []
  var line = ""
  for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
    let next = line.isEmpty ? String(word) : "\(line) \(word)"
    if displayWidth(next) <= width || line.isEmpty {
      line = next
    } else {
      lines.append(line)
      line = String(word)
    }
  }
  return line.isEmpty ? lines : lines + [line]
}

/// Wraps one line to a maximum width; all lines after the first are indented by two columns.
///
/// Breaks at spaces, and inside words that are wider than a line, so that nothing is lost.
func folded(_ text: String, _ width: Int) -> [String] {
  // The minimum is the indentation and one wide character.
  guard displayWidth(text) > width, width >= 4 else { return [text] }
  var lines: [String] = []
  var line = ""
  var gap = ""
  for word in text.split(separator: " ", omittingEmptySubsequences: false) {
    if word.isEmpty {
      gap += " "
      continue
    }
    if displayWidth(line) + displayWidth(gap) + displayWidth(String(word)) <= width {
      line += gap + word
    } else {
      if !line.isEmpty { lines.append(line) }
      line = lines.isEmpty ? "" : "  "
      for scalar in word.unicodeScalars {
        if displayWidth(line) + displayWidth(scalar) > width {
          lines.append(line)
          line = "  "
        }
        line.unicodeScalars.append(scalar)
      }
    }
    gap = " "
  }
  return lines + [line]
}

func paragraphs(_ text: String) -> [String] {
  text.split(separator: "\n", omittingEmptySubsequences: false)
    .split { $0.allSatisfy { $0 == " " } }
    .map { $0.joined(separator: "\n") }
}
