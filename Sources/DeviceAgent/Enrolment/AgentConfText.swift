import AccessEnabler
import RegentPlatform

/// The text of a settings file that is being changed.
///
/// Comments, line endings and unknown lines are kept.
struct AgentConfText {
  private var lines: [ArraySlice<UInt8>]
  /// The file's line ending: CR LF if the first line has it, and otherwise LF.
  private let lineEnd: String
  /// The lines that have changed, with `-` and `+` as in a diff.
  private(set) var difference: [String] = []

  init(_ bytes: [UInt8]) {
    lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    lineEnd = lines.count > 1 && lines[0].last == UInt8(ascii: "\r") ? "\r\n" : "\n"
    if lines.last?.isEmpty == true { lines.removeLast() }
  }

  init(_ text: String) { self.init(Array(text.utf8)) }

  var bytes: [UInt8] { lines.flatMap { $0 + [UInt8(ascii: "\n")] } }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Sets a setting, or removes it if `value` is `nil`.
  ///
  /// The new line replaces the last line that sets the setting. If there is none, the new line is inserted below a
  /// comment that shows the setting, or at the end. Further lines that set it become comments, or are deleted if the
  /// same comment exists. The file therefore does not grow, however often a box is set up.
  mutating func set(_ name: String, _ value: String?) {
    let wanted = value.map { "\(name) = \($0)" }
    var places = lines.indices.filter { ConfLine(lines[$0]).name == name }
    if let wanted, places.count == 1, shown(places[0]) == wanted { return }
    if let wanted, let last = places.popLast() {
      difference += ["- \(shown(last))", "+ \(wanted)"]
      lines[last] = ended(wanted)
    } else if let wanted {
      let example = lines.firstIndex {
        $0.first == UInt8(ascii: "#") && ConfLine($0.drop { "# ".utf8.contains($0) }).name == name
      }
      difference.append("+ \(wanted)")
      lines.insert(ended(wanted), at: example.map { $0 + 1 } ?? lines.count)
    }
    for place in places.reversed() {
      difference.append("- \(shown(place))")
      let comment = Array("# ".utf8)[...] + lines[place]
      if lines.contains(comment) { lines.remove(at: place) } else { lines[place] = comment }
    }
  }

  private func shown(_ place: Int) -> String {
    String(decoding: TextLines.withoutReturn(lines[place]), as: UTF8.self)
  }

  /// Returns the line with the file's line ending, without the LF.
  private func ended(_ line: String) -> ArraySlice<UInt8> { Array((line + lineEnd).utf8).dropLast() }
}
