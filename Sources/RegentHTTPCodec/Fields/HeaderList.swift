/// Parses comma-separated lists with semicolon parameters (RFC 9110 §5.6), as in `Accept`, `Prefer` and `Forwarded`.
package enum HeaderList {
  /// The items of a comma-separated list, without empty ones.
  ///
  /// A comma inside a quoted string does not separate items.
  package static func items(_ line: String) -> [Substring] {
    split(line[...], at: Characters.comma).filter { !$0.isEmpty }
  }

  /// The parts of a list item that semicolons separate.
  ///
  /// There is at least one.
  package static func parts(_ item: Substring) -> [Substring] {
    split(item, at: Characters.semicolon)
  }

  /// Parses `name`, `name=token` or `name="quoted"`; returns the name in lower case and the value without quotes, or
  /// nil if the text breaks the grammar.
  package static func parameter(_ part: Substring) -> (name: String, value: String)? {
    let equals = part.utf8.firstIndex(of: Characters.equals)
    let name = trimmed(part[..<(equals ?? part.endIndex)])
    guard isToken(name) else { return nil }
    guard let equals else { return (Characters.lowercased(name), "") }
    let value = trimmed(part[part.utf8.index(after: equals)...])
    if value.isEmpty { return (Characters.lowercased(name), "") }
    if isToken(value) { return (Characters.lowercased(name), String(value)) }
    guard let text = unquoted(value) else { return nil }
    return (Characters.lowercased(name), text)
  }

  static func isToken(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(\.isToken)
  }

  /// The text without spaces and tabs at both ends.
  package static func trimmed(_ text: Substring) -> Substring {
    var text = text
    // Bytes are compared here: Swift treats a space plus a combining mark as one character, HTTP as two.
    while let first = text.utf8.first, Characters.isBlank(first) {
      text = Substring(text.utf8.dropFirst())
    }
    while let last = text.utf8.last, Characters.isBlank(last) {
      text = Substring(text.utf8.dropLast())
    }
    return text
  }

  /// The contents of a quoted string; nil unless the whole text is one quoted string.
  static func unquoted(_ text: Substring) -> String? {
    var bytes = Array(text.utf8)
    guard bytes.count >= 2, bytes.removeFirst() == Characters.doubleQuote,
      bytes.removeLast() == Characters.doubleQuote
    else { return nil }
    var content: [UInt8] = []
    var index = 0
    while index < bytes.count {
      var byte = bytes[index]
      guard byte != Characters.doubleQuote else { return nil }
      if byte == Characters.backslash {
        index += 1
        guard index < bytes.count else { return nil }
        byte = bytes[index]
      }
      guard byte == Characters.tab || (byte >= 0x20 && byte != 0x7F) else { return nil }
      content.append(byte)
      index += 1
    }
    return String(validating: content, as: UTF8.self)
  }

  private static func split(_ text: Substring, at separator: UInt8) -> [Substring] {
    var pieces: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.utf8.indices {
      let byte = text.utf8[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == Characters.backslash {
        isEscaped = true
      } else if byte == Characters.doubleQuote {
        isQuoted.toggle()
      } else if byte == separator, !isQuoted {
        pieces.append(trimmed(text[start..<index]))
        start = text.utf8.index(after: index)
      }
    }
    pieces.append(trimmed(text[start...]))
    return pieces
  }
}
