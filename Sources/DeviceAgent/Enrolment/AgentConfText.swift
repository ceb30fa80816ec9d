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

  /// Gives a setting one value, or none: its lines are comments then.
  ///
  /// It comes behind the one that it replaces, behind a comment that shows how it is written, or at the end.
  mutating func set(_ name: String, _ value: String?) {
    let wanted = value.map { "\(name) = \($0)" }
    let places = lines.indices.filter { Self.name(of: lines[$0]) == name }
    if let wanted, places.count == 1, lines[places[0]] == wanted { return }
    for place in places {
      difference.append("- \(lines[place])")
      lines[place] = "# \(lines[place])"
    }
    guard let wanted else { return }
    difference.append("+ \(wanted)")
    let example = lines.firstIndex { $0.hasPrefix("#") && Self.name(of: String($0.drop { "# ".contains($0) })) == name }
    lines.insert(wanted, at: (places.last ?? example).map { $0 + 1 } ?? lines.count)
  }

  private static func name(of line: String) -> String? {
    guard !line.hasPrefix("#"), let sign = line.firstIndex(of: "=") else { return nil }
    return String(line[..<sign].filter { !$0.isWhitespace })
  }
}
