/// The text of a settings file with a `NAME=VALUE` a line, as systemd and a shell read it.
///
/// Comments, order and everything that is not changed stay as they are.
public struct EnvironmentFile: Equatable, Sendable {
  /// One line that is another now; what was not there before has no old one.
  public struct Change: Equatable, Sendable {
    public let old: String?
    public let new: String
  }

  private var lines: [String]
  /// What was changed, in the order in which it was.
  public private(set) var changes: [Change] = []

  /// Takes the text of a file.
  public init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
  }

  /// The text with its changes.
  public var text: String { lines.map { "\($0)\n" }.joined() }

  /// Gives a variable a value, or none: its line is a comment then.
  ///
  /// A line that is there is replaced, the last one when there are several, because that one counts. Else the
  /// new line comes behind the first comment that shows how it is written, or at the end.
  public mutating func set(_ name: String, _ value: String?) {
    let active = lines.indices.filter { lines[$0].hasPrefix("\(name)=") }
    guard let value else {
      for index in active { replace(index, "#\(lines[index])") }
      return
    }
    let line = "\(name)=\(Self.quoted(value))"
    if let last = active.last {
      if lines[last] != line { replace(last, line) }
    } else {
      let example = lines.firstIndex { $0.hasPrefix("#\(name)=") || $0.hasPrefix("# \(name)=") }
      changes.append(Change(old: nil, new: line))
      lines.insert(line, at: example.map { $0 + 1 } ?? lines.count)
    }
  }

  private mutating func replace(_ index: Int, _ line: String) {
    changes.append(Change(old: lines[index], new: line))
    lines[index] = line
  }

  /// A value that a shell and systemd read alike; a line end would begin another setting and becomes a space.
  private static func quoted(_ value: String) -> String {
    let value = String(value.map { $0.isNewline ? " " : $0 })
    let isPlain = value.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-._~/:@%+,".utf8.contains(byte)
      }
    }
    if isPlain { return value }
    return "\"" + value.map { "\\\"$`".contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
  }
}
