import RegentPlatform

/// A line of `agent.conf`, without its line end.
package enum ConfLine: Equatable {
  /// The line is empty or a comment.
  case empty
  case setting(name: String, value: ArraySlice<UInt8>)
  case other

  /// Parses a line: `name = value`, or a comment after `#`.
  package init(_ line: ArraySlice<UInt8>) {
    // Some editors write a byte order mark at the beginning of a file.
    let text = TextLines.trimmed(line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line)
    guard let first = text.first, first != UInt8(ascii: "#") else {
      self = .empty
      return
    }
    guard let sign = text.firstIndex(of: UInt8(ascii: "=")) else {
      self = .other
      return
    }
    self = .setting(
      name: String(decoding: TextLines.trimmed(text[..<sign]), as: UTF8.self),
      value: TextLines.trimmed(text[text.index(after: sign)...]))
  }

  /// The name of the setting on this line; nil if the line contains none.
  package var name: String? { if case .setting(let name, _) = self { name } else { nil } }
}
