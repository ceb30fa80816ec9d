internal import RegentHTTPCodec

/// Refuses paths that programs interpret differently; checked on the encoded bytes before the routes.
///
/// Dot segments (also escaped ones) are removed by some programs and kept by others. `%2f` and a backslash are
/// separators for some. `%00` ends the text for some, and some merge `//` into one slash.
enum PathShape {
  static func isAcceptable(_ path: Span<UInt8>) -> Bool {
    guard !path.isEmpty, path[0] == 0x2F else { return false }
    var index = 1
    /// The number of dots in the segment if it has only dots so far; nil otherwise.
    var dots: Int? = 0
    var isEmpty = true
    while index < path.count {
      var byte = path[index]
      index += 1
      if byte == 0x2F {
        guard !isEmpty, dots != 1, dots != 2 else { return false }
        dots = 0
        isEmpty = true
        continue
      }
      if byte == 0x25 {
        guard index + 1 < path.count, let high = path[index].hexValue,
          let low = path[index + 1].hexValue
        else { return false }
        byte = high << 4 | low
        index += 2
        guard byte != 0x2F else { return false }
      }
      // No valid path has control characters, and they would get into logs and terminals.
      guard byte > 0x1F, byte != 0x7F, byte != 0x5C else { return false }
      isEmpty = false
      dots = byte == 0x2E ? dots.map { $0 + 1 } : nil
    }
    return dots != 1 && dots != 2
  }
}
