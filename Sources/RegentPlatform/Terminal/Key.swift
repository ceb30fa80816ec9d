/// A key that somebody pressed.
public enum Key: Hashable, Sendable {
  /// A character, as typed.
  case character(Character)
  /// A control character: Ctrl and a lower-case letter.
  case control(Character)
  /// Return.
  case enter
  /// Escape by itself.
  case escape
  /// Backspace.
  case backspace
  /// Delete to the right.
  case delete
  /// Tab.
  case tab
  /// Tab with shift.
  case backTab
  /// Arrow up.
  case up
  /// Arrow down.
  case down
  /// Arrow left.
  case left
  /// Arrow right.
  case right
  /// First position.
  case home
  /// Last position.
  case end
  /// A page up.
  case pageUp
  /// A page down.
  case pageDown
}

/// Turns a terminal's bytes into keys; bytes of one key may come in several pieces.
public struct KeyDecoder: Sendable {
  private var pending: [UInt8] = []

  /// Longer sequences than any key has are noise.
  private static let longest = 16

  /// A decoder that has seen nothing.
  public init() {}

  /// Whether a key may be incomplete.
  ///
  /// Escape alone looks like the beginning of an arrow key: after a short silence call
  /// `flush`.
  public var isWaiting: Bool { !pending.isEmpty }

  /// Takes bytes and gives the keys that are complete now.
  ///
  /// - Parameter bytes: what was read.
  /// - Returns: keys in order; sequences that are no known key are left out.
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

  /// Gives up waiting: a lone escape is the escape key, other beginnings are dropped.
  ///
  /// - Returns: the keys that this completes.
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

  /// A character of several bytes: `nil` when bytes are missing, no key when they are not UTF-8.
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

  /// `ESC [ … letter` or `ESC O letter`: `nil` when bytes are missing.
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
      // Escape followed by something else: two keys typed fast.
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
