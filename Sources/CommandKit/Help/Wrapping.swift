/// The words of a text in lines of at most so many columns; a longer word has a line of its own.
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

/// A line in lines of at most so many columns, all but the first of them two columns further in.
///
/// It is broken between words, and within those that are longer than a line: nothing is left out.
func folded(_ text: String, _ width: Int) -> [String] {
  // A wide letter behind the indentation is the least that has to fit.
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

/// Texts that are separated by empty lines.
func paragraphs(_ text: String) -> [String] {
  text.split(separator: "\n", omittingEmptySubsequences: false)
    .split { $0.allSatisfy { $0 == " " } }
    .map { $0.joined(separator: "\n") }
}
