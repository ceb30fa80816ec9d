/// The lines of a text that people, other programs or other systems wrote, told apart by their bytes.
///
/// Not by characters: "\r\n" is one of them, and a sign that has a mark on it is another than the sign.
public enum TextLines {
  /// The lines without their ends, LF or CR LF; the last one is empty when the text ends with one.
  public static func of(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(withoutReturn)
  }

  /// The same lines as texts, in which bytes that are none became U+FFFD.
  public static func texts(of bytes: [UInt8]) -> [String] {
    of(bytes).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A line without the CR that other systems put at its end.
  public static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  /// A part of a line without the spaces and tabs around it.
  public static func trimmed(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let last = part.lastIndex(where: { !isSpace($0) }) else { return [] }
    return part[...last].drop(while: isSpace)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
