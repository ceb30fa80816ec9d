/// The maximum size of a message head.
///
/// Positions in a head are stored in 16 bits, so all parts together must be smaller than 64 KiB.
public struct HeadLimits: Sendable, Hashable {
  /// The maximum length of the first line with its CR LF, in bytes.
  ///
  /// The server answers a longer line with 414.
  public let line: Int
  /// The maximum length of all field lines with their CR LF, in bytes.
  ///
  /// The server answers longer field lines with 431.
  public let fields: Int
  /// The maximum number of field lines.
  ///
  /// The server answers more with 431.
  public let count: Int

  /// Makes limits; each is clamped to a range that 16-bit positions allow.
  public init(line: Int = 8192, fields: Int = 16384, count: Int = 64) {
    self.line = min(max(line, 64), 16384)
    self.fields = min(max(fields, 64), 32768)
    self.count = min(max(count, 1), 1024)
  }
}
