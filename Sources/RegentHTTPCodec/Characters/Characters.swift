/// ASCII characters for the text parsers of this target; the character classes of RFC 9110 are in ByteClass.swift.
package enum Characters {
  static let tab: UInt8 = 0x09
  static let space: UInt8 = 0x20
  static let doubleQuote: UInt8 = 0x22
  static let percent: UInt8 = 0x25
  static let ampersand: UInt8 = 0x26
  static let plus: UInt8 = 0x2B
  static let comma: UInt8 = 0x2C
  static let minus: UInt8 = 0x2D
  static let dot: UInt8 = 0x2E
  static let slash: UInt8 = 0x2F
  static let zero: UInt8 = 0x30
  static let colon: UInt8 = 0x3A
  static let semicolon: UInt8 = 0x3B
  static let equals: UInt8 = 0x3D
  static let backslash: UInt8 = 0x5C

  static func isLetter(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26
  }

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == space || byte == tab
  }

  /// Whether the byte is an `unreserved` character (RFC 3986 §2.3), which is never escaped in a URL.
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    byte.isDigit || isLetter(byte) || byte == minus || byte == dot || byte == 0x5F || byte == 0x7E
  }

  static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? value &+ 0x30 : value &+ 0x37
  }

  /// Converts ASCII capitals to lower case.
  ///
  /// Other letters stay, because names in HTTP are ASCII.
  static func lowercased(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map(\.lowered), as: UTF8.self)
  }

  /// Whether both texts are equal when only the case of ASCII letters is ignored.
  static func equalIgnoringCase(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
    left.utf8.elementsEqual(right.utf8) { $0.lowered == $1.lowered }
  }
}

extension Span where Element == UInt8 {
  /// The bytes of a range as text.
  ///
  /// The caller must have checked that the bytes are ASCII.
  func text(_ range: Range<Int>) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for index in range { bytes.append(self[index]) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
