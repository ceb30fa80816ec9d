/// The text of a settings file with a `NAME=VALUE` a line, as systemd and a shell read it.
///
/// Comments, order and everything that is not changed stay as they are.
public struct EnvironmentFile: Equatable, Sendable {
  /// One line that is another now; what was not there before has no old one, and what is gone no new one.
  public struct Change: Equatable, Sendable {
    public let old: String?
    public let new: String?
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

  /// The value of a variable as it is read; nil when no line sets it.
  public func value(of name: String) -> String? {
    guard let line = lines.last(where: { $0.hasPrefix("\(name)=") }) else { return nil }
    var text = line.dropFirst(name.count + 1)
    guard let quote = text.first, "\"'".contains(quote), text.count > 1, text.last == quote else { return String(text) }
    text = text.dropFirst().dropLast()
    var value = ""
    var isEscaped = false
    for character in text {
      if character == "\\", !isEscaped, quote == "\"" {
        isEscaped = true
      } else {
        value.append(character)
        isEscaped = false
      }
    }
    return value
  }

  /// Gives a variable a value, or none.
  ///
  /// A line that is there is replaced, the last one when there are several, because that one counts. Else the
  /// new line comes behind the first comment that shows how it is written, or at the end. Without a value the line
  /// becomes such a comment, or goes when there is one: the file does not grow, however often a setting comes and goes.
  public mutating func set(_ name: String, _ value: String?) {
    let active = lines.indices.filter { lines[$0].hasPrefix("\(name)=") }
    guard let value else {
      for index in active.reversed() {
        if example(of: name) == nil { replace(index, "#\(lines[index])") } else { remove(index) }
      }
      return
    }
    let line = "\(name)=\(Self.quoted(value))"
    if let last = active.last {
      if lines[last] != line { replace(last, line) }
    } else {
      changes.append(Change(old: nil, new: line))
      lines.insert(line, at: example(of: name).map { $0 + 1 } ?? lines.count)
    }
  }

  private func example(of name: String) -> Int? {
    lines.firstIndex { $0.hasPrefix("#\(name)=") || $0.hasPrefix("# \(name)=") }
  }

  private mutating func remove(_ index: Int) {
    changes.append(Change(old: lines.remove(at: index), new: nil))
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
