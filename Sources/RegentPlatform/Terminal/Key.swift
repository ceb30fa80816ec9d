/// A key pressed on the terminal.
public enum Key: Hashable, Sendable {
  case character(Character)
  /// The control key and a lower-case letter, pressed together.
  case control(Character)
  case enter
  case escape
  case backspace
  /// The Delete key (deletes to the right).
  case delete
  case tab
  /// The shift key and the tab key, pressed together.
  case backTab
  case up
  case down
  case left
  case right
  case home
  case end
  case pageUp
  case pageDown
}

/// Decodes a terminal's bytes into keys.
///
/// The bytes of one key may arrive in several pieces.
public struct KeyDecoder: Sendable {
  private var pending: [UInt8] = []

  /// The maximum length of a key's byte sequence.
  ///
  /// Longer sequences are no keys and are discarded.
  private static let longest = 16

  public init() {}

  /// Whether the bytes so far may be the beginning of a key.
  ///
  /// The Escape key sends the first byte of an arrow key's sequence. So call `flush` when no byte follows for a short
  /// time.
  public var isWaiting: Bool { !pending.isEmpty }

  /// Adds bytes from the terminal and returns the keys that are complete now, in order.
  ///
  /// Unknown sequences are left out.
  public mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending.append(contentsOf: bytes)
    var keys: [Key] = []
    while let first = pending.first {
      let length: Int
      switch first {
      case 0x1b:
        guard let (key, taken) = escapeSequence() else { return keys }
        if let key { keys.append(key) }
        length = taken
      case 0x80...:
        guard let (key, taken) = multiByteCharacter(first) else { return keys }
        if let key { keys.append(key) }
        length = taken
      default:
        keys.append(singleByteKey(first))
        length = 1
      }
      pending.removeFirst(length)
    }
    return keys
  }

  /// Ends waiting for more bytes: a lone escape byte is the Escape key, other incomplete sequences are dropped.
  ///
  /// - Returns: the key that is complete now, if any.
  public mutating func flush() -> [Key] {
    defer { pending = [] }
    return pending == [0x1b] ? [.escape] : []
  }

  private func singleByteKey(_ byte: UInt8) -> Key {
    switch byte {
    case 0x0d, 0x0a: .enter
    case 0x09: .tab
    case 0x7f, 0x08: .backspace
    case 0x01...0x1a: .control(Character(UnicodeScalar(byte + 0x60)))
    case 0x00, 0x1c...0x1f: .control(Character(UnicodeScalar(byte + 0x40)))
    default: .character(Character(UnicodeScalar(byte)))
    }
  }

  /// Decodes a character of several bytes.
  ///
  /// Returns nil when bytes are missing, and no key when the bytes are not UTF-8.
  private func multiByteCharacter(_ first: UInt8) -> (Key?, Int)? {
    let length =
      switch first {
      case 0xc2...0xdf: 2
      case 0xe0...0xef: 3
      case 0xf0...0xf4: 4
      default: 0
      }
    guard length > 0 else { return (nil, 1) }
    let bytes = pending.prefix(length)
    if let wrong = bytes.dropFirst().firstIndex(where: { $0 & 0xc0 != 0x80 }) {
      return (nil, wrong)
    }
    guard bytes.count == length else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else {
      return (nil, length)
    }
    return (.character(character), length)
  }

  /// Decodes the sequence of a special key, `ESC [ … letter` or `ESC O letter`.
  ///
  /// Returns nil when bytes are missing.
  private func escapeSequence() -> (Key?, Int)? {
    guard pending.count > 1 else { return nil }
    switch pending[1] {
    case UInt8(ascii: "O"):
      guard pending.count > 2 else { return nil }
      return (key(final: pending[2], parameter: ""), 3)
    case UInt8(ascii: "["):
      let body = pending.dropFirst(2)
      guard let final = body.firstIndex(where: { 0x40...0x7e ~= $0 }) else {
        return pending.count > KeyDecoder.longest ? (nil, pending.count) : nil
      }
      let parameter = String(decoding: pending[2..<final], as: UTF8.self)
      return (key(final: pending[final], parameter: parameter), final + 1)
    default:
      // Escape and another key were pressed quickly after each other.
      return (.escape, 1)
    }
  }

  private func key(final: UInt8, parameter: String) -> Key? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "Z"): .backTab
    case UInt8(ascii: "~"):
      switch parameter.prefix(while: { $0 != ";" }) {
      case "1", "7": .home
      case "3": .delete
      case "4", "8": .end
      case "5": .pageUp
      case "6": .pageDown
      default: nil
      }
    default: nil
    }
  }
}
