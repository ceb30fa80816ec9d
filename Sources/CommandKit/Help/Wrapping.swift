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

/// Texts that are separated by empty lines.
func paragraphs(_ text: String) -> [String] {
  text.split(separator: "\n", omittingEmptySubsequences: false)
    .split { $0.allSatisfy { $0 == " " } }
    .map { $0.joined(separator: "\n") }
}
