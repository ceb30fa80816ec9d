/// Splits text from outside into lines, comparing bytes.
///
/// Comparing Characters would be wrong: Swift treats "\r\n" as one Character, and a sign with a combining mark as a
/// Character other than the sign.
public enum TextLines {
  /// The lines of a text without their LF or CR LF.
  ///
  /// If the text ends with a line end, the last line is empty.
  public static func of(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(withoutReturn)
  }

  /// The lines of a text as strings.
  ///
  /// Invalid UTF-8 becomes U+FFFD.
  public static func texts(of bytes: [UInt8]) -> [String] {
    of(bytes).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The line without a CR at its end.
  public static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  /// The part of a line without white space at both ends.
  public static func trimmed(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let last = part.lastIndex(where: { !isSpace($0) }) else { return [] }
    return part[...last].drop(while: isSpace)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
