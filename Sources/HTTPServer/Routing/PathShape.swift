internal import RegentHTTPCodec

/// What no path may contain, checked on the raw bytes before any route is looked up.
///
/// Each of these is read in two ways by some pair of programs: dot segments (also escaped) are removed by one and kept
/// by the other, `%2f` and a backslash are separators to one, `%00` ends the text for one, `//` is folded by one.
enum PathShape {
  static func isAcceptable(_ path: Span<UInt8>) -> Bool {
    guard !path.isEmpty, path[0] == 0x2F else { return false }
    var index = 1
    /// How many dots the segment has so far; nil once it has anything else.
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
      // Control characters in a path only ever end up in somebody's log or terminal.
      guard byte > 0x1F, byte != 0x7F, byte != 0x5C else { return false }
      isEmpty = false
      dots = byte == 0x2E ? dots.map { $0 + 1 } : nil
    }
    return dots != 1 && dots != 2
  }
}
