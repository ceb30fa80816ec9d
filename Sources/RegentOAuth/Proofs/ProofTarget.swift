internal import RegentHTTPCodec

/// The URL for which a DPoP proof was made, without query and fragment, in normalized form (RFC 3986 §6.2.2 and
/// §6.2.3).
///
/// Proofs are compared and stored with the normalized URL. Otherwise a proof could be replayed once for each spelling
/// of its URL.
package struct ProofTarget: Sendable, Hashable {
  package let text: String

  /// Normalizes a URL.
  ///
  /// Returns `nil` for text that is not a URL, or that parsers read in different ways.
  package init?(_ url: String) {
    guard url.utf8.count <= 2048, let parsed = try? AbsoluteURL(parsing: url) else { return nil }
    text = parsed.origin + Self.withoutDots(Self.plain(parsed.path))
  }

  /// Decodes percent-escapes of unreserved characters in a path, and writes all other escapes in upper case.
  private static func plain(_ path: String) -> [UInt8] {
    let bytes = Array(path.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var place = 0
    while place < bytes.count {
      // The URL was parsed before, so two hexadecimal digits follow each percent sign.
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

  /// Removes the segments `.` and `..` from a path (RFC 3986 §5.2.4).
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
