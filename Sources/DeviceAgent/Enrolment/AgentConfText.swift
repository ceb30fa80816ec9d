/// A settings file that is changed: comments and what else stands there stay, as they are.
struct AgentConfText {
  private(set) var lines: [String]
  /// The lines that are others now, as a difference shows them.
  private(set) var difference: [String] = []

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
  }

  var text: String { lines.map { "\($0)\n" }.joined() }

  /// Gives a setting one value, or none.
  ///
  /// The value takes the place of the last line that has one; else it comes behind a comment that shows how it is
  /// written, or at the end. Other lines of the setting become comments, or go when there is such a comment already:
  /// the file does not grow, however often a box is set up.
  mutating func set(_ name: String, _ value: String?) {
    let wanted = value.map { "\(name) = \($0)" }
    var places = lines.indices.filter { Self.name(of: lines[$0]) == name }
    if let wanted, places.count == 1, lines[places[0]] == wanted { return }
    if let wanted, let last = places.popLast() {
      difference += ["- \(lines[last])", "+ \(wanted)"]
      lines[last] = wanted
    } else if let wanted {
      let example = lines.firstIndex {
        $0.hasPrefix("#") && Self.name(of: String($0.drop { "# ".contains($0) })) == name
      }
      difference.append("+ \(wanted)")
      lines.insert(wanted, at: example.map { $0 + 1 } ?? lines.count)
    }
    for place in places.reversed() {
      let line = lines[place]
      difference.append("- \(line)")
      if lines.contains("# \(line)") { lines.remove(at: place) } else { lines[place] = "# \(line)" }
    }
  }

  private static func name(of line: String) -> String? {
    guard !line.hasPrefix("#"), let sign = line.firstIndex(of: "=") else { return nil }
    return String(line[..<sign].filter { !$0.isWhitespace })
  }
}
