/// A settings file with one `NAME=VALUE` per line, as systemd reads it.
///
/// Lines that this type writes mean the same in a shell.
///
/// Comments, order, line ends and invalid UTF-8 are kept in all lines that are not changed.
public struct EnvironmentFile: Equatable, Sendable {
  /// A change of one line of the file.
  ///
  /// `old` is nil for a line that was added, `new` is nil for a line that was removed.
  public struct Change: Equatable, Sendable {
    public let old: String?
    public let new: String?
  }

  private var parts: [EnvironmentPart]
  /// The line end of new lines: that of the first line, or LF if the file is empty.
  private let lineEnd: [UInt8]
  /// The changes in the order in which they were made.
  public private(set) var changes: [Change] = []

  /// Parses the content of a settings file.
  public init(_ bytes: [UInt8]) {
    parts = EnvironmentPart.all(in: bytes)
    lineEnd = parts.first { !$0.end.isEmpty }?.end ?? [UInt8(ascii: "\n")]
    if let last = parts.indices.last, !parts[last].isOpen { parts[last].end = endOf(last) }
  }

  /// Parses the text of a settings file.
  public init(_ text: String) { self.init(Array(text.utf8)) }

  /// The content of the settings file, including the changes.
  public var bytes: [UInt8] { parts.flatMap { $0.bytes + $0.end } }

  /// The content of the settings file as a text, including the changes.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The value of a variable as systemd reads it; nil when no line sets it.
  public func value(of name: String) -> String? {
    parts.last { $0.sets(name) }?.value.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The values of all variables by name.
  ///
  /// If several lines set a variable, the last one counts.
  public var variables: [String: String] {
    var found: [String: String] = [:]
    for part in parts {
      guard let name = part.name, let value = part.value else { continue }
      found[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }
    return found
  }

  /// Sets a variable, or removes it if the value is nil.
  ///
  /// An existing line is replaced; if there are several, the last one, because that one counts. Otherwise the new line
  /// is inserted after the first comment that shows the setting, or at the end. Removing turns the line into such a
  /// comment, or deletes it if one exists. So the file does not grow when a setting is added and removed again and
  /// again.
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

  /// Whether a line follows a comment that ends in a backslash.
  ///
  /// systemd before version 254 treats the line as part of that comment, later versions as a line of its own.
  private func isInDoubt(_ index: Int) -> Bool { index > 0 && parts[index - 1].isCommentThatGoesOn }

  private func endOf(_ index: Int) -> [UInt8] { parts[index].end.isEmpty ? lineEnd : parts[index].end }

  private mutating func insert(_ line: [UInt8], behind example: Int?) {
    changes.append(Change(old: nil, new: String(decoding: line, as: UTF8.self)))
    var place = example.map { $0 + 1 } ?? parts.count
    while place < parts.count, isInDoubt(place) { place += 1 }
    if place == parts.count, let last = parts.last {
      if last.isOpen {
        // The new line is inserted before the last line. After it, the new line would become part of its unfinished
        // value.
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
