internal import RegentHTTPCodec

/// The address that a proof is for, in the one form that all its spellings have (RFC 3986 §6.2.2 and §6.2.3), without
/// query and fragment.
///
/// By it addresses are compared and proofs remembered: otherwise one proof counted once for each way to write its
/// address.
package struct ProofTarget: Sendable, Hashable {
  package let text: String

  /// The form of a URL; nil for what is none, or is read in two ways.
  package init?(_ url: String) {
    guard url.utf8.count <= 2048, let parsed = try? AbsoluteURL(parsing: url) else { return nil }
    text = parsed.origin + Self.withoutDots(Self.plain(parsed.path))
  }

  /// Escapes of letters that need none are written out, the others in capitals.
  private static func plain(_ path: String) -> [UInt8] {
    let bytes = Array(path.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var place = 0
    while place < bytes.count {
      // The URL was parsed, so that two hexadecimal digits follow each percent sign.
      guard bytes[place] == UInt8(ascii: "%"), place + 2 < bytes.count,
        let value = UInt8(String(decoding: bytes[(place + 1)...(place + 2)], as: UTF8.self), radix: 16)
      else {
        result.append(bytes[place])
        place += 1
        continue
      }
      if Characters.isUnreserved(value) {
        result.append(value)
      } else {
        result.append(UInt8(ascii: "%"))
        result += bytes[(place + 1)...(place + 2)].map { (0x61...0x66).contains($0) ? $0 - 0x20 : $0 }
      }
      place += 3
    }
    return result
  }

  /// `.` and `..` as a path means them (RFC 3986 §5.2.4).
  private static func withoutDots(_ path: [UInt8]) -> String {
    var kept: [ArraySlice<UInt8>] = []
    let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    for (place, segment) in segments.enumerated() {
      let isLast = place == segments.count - 1
      if segment.elementsEqual(".".utf8) {
        if isLast { kept.append([]) }
      } else if segment.elementsEqual("..".utf8) {
        _ = kept.popLast()
        if isLast { kept.append([]) }
      } else {
        kept.append(segment)
      }
    }
    return "/" + kept.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
  }
}
