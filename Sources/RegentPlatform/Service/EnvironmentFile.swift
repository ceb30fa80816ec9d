/// A settings file with a `NAME=VALUE` a line, as systemd reads it; what is written here a shell reads alike.
///
/// Comments, order, line ends and bytes that are no text stay as they are where nothing is changed.
public struct EnvironmentFile: Equatable, Sendable {
  /// One line that is another now; what was not there before has no old one, and what is gone no new one.
  public struct Change: Equatable, Sendable {
    public let old: String?
    public let new: String?
  }

  private var parts: [EnvironmentPart]
  /// LF, or what the first line has.
  private let lineEnd: [UInt8]
  /// What was changed, in the order in which it was.
  public private(set) var changes: [Change] = []

  /// Takes the content of a file.
  public init(_ bytes: [UInt8]) {
    parts = EnvironmentPart.all(in: bytes)
    lineEnd = parts.first { !$0.end.isEmpty }?.end ?? [UInt8(ascii: "\n")]
    if let last = parts.indices.last, !parts[last].isOpen { parts[last].end = endOf(last) }
  }

  /// Takes the text of a file.
  public init(_ text: String) { self.init(Array(text.utf8)) }

  /// The content with its changes.
  public var bytes: [UInt8] { parts.flatMap { $0.bytes + $0.end } }

  /// The same as a text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The value of a variable as it is read; nil when no line sets it.
  public func value(of name: String) -> String? {
    parts.last { $0.sets(name) }?.value.map { String(decoding: $0, as: UTF8.self) }
  }

  /// All variables that lines set; of several lines with one name the last one counts.
  public var variables: [String: String] {
    var found: [String: String] = [:]
    for part in parts {
      guard let name = part.name, let value = part.value else { continue }
      found[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }
    return found
  }

  /// Gives a variable a value, or none.
  ///
  /// A line that is there is replaced, the last one when there are several, because that one counts. Else the
  /// new line comes behind the first comment that shows how it is written, or at the end. Without a value the line
  /// becomes such a comment, or goes when there is one: the file does not grow, however often a setting comes and goes.
  public mutating func set(_ name: String, _ value: String?) {
    for index in parts.indices where parts[index].sets(name) && isInDoubt(index) {
      replace(index, parts[index].asComment)
    }
    let active = parts.indices.filter { parts[$0].sets(name) }
    guard let value else {
      for index in active.reversed() {
        if example(of: name) == nil { replace(index, parts[index].asComment) } else { remove(index) }
      }
      return
    }
    let line = EnvironmentPart.line(name, value)
    if let last = active.last {
      if parts[last].bytes != line { replace(last, line) }
    } else {
      insert(line, behind: example(of: name))
    }
  }

  private func example(of name: String) -> Int? { parts.firstIndex { $0.isExample(of: name) } }

  /// Whether a line stands behind a comment that ends in a backslash: before version 254 systemd takes it for a part of
  /// that comment, and since then for a line of its own.
  private func isInDoubt(_ index: Int) -> Bool { index > 0 && parts[index - 1].isCommentThatGoesOn }

  private func endOf(_ index: Int) -> [UInt8] { parts[index].end.isEmpty ? lineEnd : parts[index].end }

  private mutating func insert(_ line: [UInt8], behind example: Int?) {
    changes.append(Change(old: nil, new: String(decoding: line, as: UTF8.self)))
    var place = example.map { $0 + 1 } ?? parts.count
    while place < parts.count, isInDoubt(place) { place += 1 }
    if place == parts.count, let last = parts.last {
      if last.isOpen {
        // What comes behind would be a part of its value.
        place -= 1
      } else if last.isCommentThatGoesOn {
        parts.append(EnvironmentPart(bytes: [], end: lineEnd))
        place += 1
      }
    }
    parts.insert(EnvironmentPart(bytes: line, end: lineEnd), at: place)
  }

  private mutating func remove(_ index: Int) {
    changes.append(Change(old: parts.remove(at: index).text, new: nil))
  }

  private mutating func replace(_ index: Int, _ line: [UInt8]) {
    let part = EnvironmentPart(bytes: line, end: endOf(index))
    changes.append(Change(old: parts[index].text, new: part.text))
    parts[index] = part
  }
}
