/// A pattern for resource names.
///
/// `*` matches any run of characters, also an empty one; `\*` and `\\` match `*` and `\`.
///
/// Letters match without case, as in line-ups: one provider calls a channel `ESPN`, another `espn`.
public struct ResourcePattern: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length of a pattern, in bytes.
  public static let longest = 256

  public let text: String

  /// The literal parts of the pattern in order, with a `*` between each two.
  private let pieces: [[UInt8]]

  /// Parses a pattern; nil if it is empty or too long, or has an invalid or unfinished escape.
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

  public var description: String { text }

  /// The number of literal bytes in the pattern.
  ///
  /// A pattern with more of them is more specific.
  public var literalLength: Int { pieces.reduce(0) { $0 + $1.count } }

  /// Whether the pattern has no `*`, so that it matches one name only.
  public var isExact: Bool { pieces.count == 1 }

  /// Whether the resource name matches the pattern.
  ///
  /// Each literal part is searched once from the left, without backtracking, so that no pattern makes matching slow.
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
  /// This byte in lower case if it is an ASCII capital, otherwise the byte unchanged.
  var asciiLowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 0x20 : self
  }
}

extension ArraySlice<UInt8> {
  fileprivate func endOfFirst(_ piece: [UInt8]) -> Int? {
    guard count >= piece.count else { return nil }
    return (startIndex...(endIndex - piece.count)).first { start in
      self[start..<(start + piece.count)].elementsEqual(piece)
    }.map { $0 + piece.count }
  }
}
