/// One line of a settings file as systemd reads it, or several lines that form one value.
///
/// A value continues after a backslash at the end of a line, and until its closing quotation mark.
struct EnvironmentPart: Equatable, Sendable {
  /// The bytes of the part without the last line end.
  let bytes: [UInt8]
  /// The last line end of the part; empty if the file ends without one.
  var end: [UInt8]
  /// The name of the variable that the part sets, as bytes; nil, like the value, if it sets none.
  let name: [UInt8]?
  let value: [UInt8]?
  /// Whether the file ends within the value, so that text appended to the file would become part of it.
  let isOpen: Bool

  /// Parses a single, complete part.
  init(bytes: [UInt8], end: [UInt8]) {
    var scanner = EnvironmentScanner(bytes: bytes)
    let found = scanner.setting()
    self.init(bytes: bytes, end: end, found, isOpen: false)
  }

  private init(bytes: [UInt8], end: [UInt8], _ found: (name: [UInt8], value: [UInt8])?, isOpen: Bool) {
    self.bytes = bytes
    self.end = end
    name = found?.name
    value = found?.value
    self.isOpen = isOpen
  }

  /// Parses all parts of a file.
  static func all(in bytes: [UInt8]) -> [EnvironmentPart] {
    var parts: [EnvironmentPart] = []
    var scanner = EnvironmentScanner(bytes: bytes)
    while scanner.place < bytes.count {
      let start = scanner.place
      let found = scanner.setting()
      let middle = scanner.place
      let end = scanner.lineEnd()
      parts.append(
        EnvironmentPart(
          bytes: Array(bytes[start..<middle]), end: end, found, isOpen: end.isEmpty && scanner.isInValue))
    }
    return parts
  }

  /// The bytes of the part as text, for display.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  func sets(_ name: String) -> Bool { self.name.map { $0.elementsEqual(name.utf8) } ?? false }

  private var isComment: Bool { bytes.first { !isBlank($0) }.map { "#;".utf8.contains($0) } ?? false }

  /// Whether the part is a comment that ends in a backslash.
  var isCommentThatGoesOn: Bool { isComment && bytes.last == UInt8(ascii: "\\") }

  /// Whether the part is a comment that shows how to write a setting, for example `#NAME=VALUE`.
  func isExample(of name: String) -> Bool {
    guard isComment, let sign = bytes.firstIndex(of: UInt8(ascii: "=")) else { return false }
    let key = TextLines.trimmed(bytes[..<sign].drop { isBlank($0) || $0 == UInt8(ascii: "#") })
    return key.elementsEqual(name.utf8)
  }

  /// The setting of the part as a comment in one line.
  var asComment: [UInt8] {
    let isOneLine = !bytes.contains(where: isLineEnd) && bytes.last != UInt8(ascii: "\\")
    return [UInt8(ascii: "#")] + (isOneLine ? bytes : Self.line(name ?? [], value ?? []))
  }

  static func line(_ name: String, _ value: String) -> [UInt8] { line(Array(name.utf8), Array(value.utf8)) }

  /// Writes a setting as a line that a shell and systemd read alike.
  ///
  /// Line ends in the value become spaces, because they would begin another setting.
  private static func line(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
    let start = name + [UInt8(ascii: "=")]
    let isPlain = value.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-._~/:@%+,".utf8.contains(byte)
      }
    }
    if isPlain { return start + value }
    let quote = UInt8(ascii: "\"")
    let quoted = value.flatMap { byte -> [UInt8] in
      if (0x0A...0x0D).contains(byte) { return [UInt8(ascii: " ")] }
      return "\\\"$`".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
    }
    return start + [quote] + quoted + [quote]
  }
}

/// Parses a settings file as systemd does (src/basic/env-file.c).
private struct EnvironmentScanner {
  let bytes: [UInt8]
  private(set) var place = 0
  /// Whether the last setting ended within quotation marks or after a backslash.
  private(set) var isInValue = false

  init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  /// Reads to the end of a line, or of a value that has several lines.
  ///
  /// Returns nil when the line sets no variable.
  mutating func setting() -> (name: [UInt8], value: [UInt8])? {
    isInValue = false
    let start = place
    while let byte = next, !isLineEnd(byte), byte != UInt8(ascii: "=") { place += 1 }
    let name = TextLines.trimmed(bytes[start..<place])
    let isComment = name.first.map { "#;".utf8.contains($0) } ?? false
    guard next == UInt8(ascii: "="), !name.isEmpty, !isComment else {
      while let byte = next, !isLineEnd(byte) { place += 1 }
      return nil
    }
    place += 1
    return (Array(name), readValue())
  }

  /// Reads a line end, if there is one.
  mutating func lineEnd() -> [UInt8] {
    guard let byte = next, isLineEnd(byte) else { return [] }
    place += 1
    guard byte == UInt8(ascii: "\r"), next == UInt8(ascii: "\n") else { return [byte] }
    place += 1
    return Array("\r\n".utf8)
  }

  private enum EnvironmentScannerState { case before, plain, escape, single, double, doubleEscape }

  private mutating func readValue() -> [UInt8] {
    var value: [UInt8] = []
    // The length of the value without spaces at its end, as far as it was read.
    var kept = 0
    var state = EnvironmentScannerState.before
    let (backslash, quote, apostrophe) = (UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"))
    while let byte = next {
      switch state {
      case .before, .plain:
        if isLineEnd(byte) { return state == .plain ? Array(value.prefix(kept)) : value }
        if byte == backslash {
          state = .escape
        } else if state == .before, byte == quote {
          state = .double
        } else if state == .before, byte == apostrophe {
          state = .single
        } else if state == .plain || !isBlank(byte) {
          value.append(byte)
          if !isBlank(byte) { kept = value.count }
          state = .plain
        }
      case .escape:
        if !isLineEnd(byte) { value.append(byte) }
        kept = value.count
        state = .plain
      case .single:
        if byte == apostrophe { state = .before } else { value.append(byte) }
      case .double:
        if byte == quote {
          state = .before
        } else if byte == backslash {
          state = .doubleEscape
        } else {
          value.append(byte)
        }
      case .doubleEscape:
        if "\"\\`$".utf8.contains(byte) {
          value.append(byte)
        } else if byte != UInt8(ascii: "\n") {
          value += [backslash, byte]
        }
        state = .double
      }
      place += 1
    }
    isInValue = state != .before && state != .plain
    return state == .plain ? Array(value.prefix(kept)) : value
  }
}

private func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
