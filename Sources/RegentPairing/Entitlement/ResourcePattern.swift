/// A pattern over resource names: `*` stands for any run of characters, also none; `\*` and `\\` for themselves.
///
/// Letters match in either case, as in line-ups: the same channel is `ESPN` to one provider and `espn` to another.
public struct ResourcePattern: Hashable, Sendable, CustomStringConvertible {
  /// The longest pattern, in bytes.
  public static let longest = 256

  /// The pattern as it was written.
  public let text: String

  /// What has to be found, in order; between two pieces stands a `*`.
  private let pieces: [[UInt8]]

  /// Reads a pattern; refused when it is empty, too long, or ends in half an escape.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.longest else { return nil }
    var pieces: [[UInt8]] = [[]]
    var escaped = false
    for byte in text.utf8 {
      if escaped {
        guard byte == UInt8(ascii: "*") || byte == UInt8(ascii: "\\") else { return nil }
        pieces[pieces.count - 1].append(byte)
        escaped = false
      } else if byte == UInt8(ascii: "\\") {
        escaped = true
      } else if byte == UInt8(ascii: "*") {
        pieces.append([])
      } else {
        pieces[pieces.count - 1].append(byte.asciiLowercased)
      }
    }
    guard !escaped else { return nil }
    self.text = text
    self.pieces = pieces
  }

  /// The pattern, for messages.
  public var description: String { text }

  /// How many characters it names: the more, the more specific.
  public var literalLength: Int { pieces.reduce(0) { $0 + $1.count } }

  /// Whether it names one resource only.
  public var isExact: Bool { pieces.count == 1 }

  /// Whether a name fits.
  ///
  /// Each piece is looked for from the left, once: no backtracking, so no pattern makes a match slow.
  public func matches(_ name: String) -> Bool {
    let name = name.utf8.map(\.asciiLowercased)
    guard let first = pieces.first, let last = pieces.last else { return false }
    if isExact { return name == first }
    guard name.count >= first.count + last.count, name.starts(with: first) else { return false }
    guard name.suffix(last.count).elementsEqual(last) else { return false }
    var rest = name[first.count..<(name.count - last.count)]
    for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
      guard let end = rest.endOfFirst(piece) else { return false }
      rest = rest[end...]
    }
    return true
  }
}

extension UInt8 {
  /// The byte, as a small letter when it is a capital one of ASCII.
  var asciiLowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 0x20 : self
  }
}

extension ArraySlice<UInt8> {
  /// Where the first occurrence of `piece` ends.
  fileprivate func endOfFirst(_ piece: [UInt8]) -> Int? {
    guard count >= piece.count else { return nil }
    return (startIndex...(endIndex - piece.count)).first { start in
      self[start..<(start + piece.count)].elementsEqual(piece)
    }.map { $0 + piece.count }
  }
}
