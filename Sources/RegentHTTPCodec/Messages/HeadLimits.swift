/// How large a message head may be.
///
/// Offsets are kept in 16 bits, so everything together stays below 64 KiB.
public struct HeadLimits: Sendable, Hashable {
  /// The first line with its CR LF, in bytes; a longer one is answered with 414.
  public let line: Int
  /// All field lines together with their CR LF, in bytes; more is answered with 431.
  public let fields: Int
  /// How many field lines there may be; more is answered with 431.
  public let count: Int

  /// Limits; each is brought into the range the 16-bit offsets allow.
  public init(line: Int = 8192, fields: Int = 16384, count: Int = 64) {
    self.line = min(max(line, 64), 16384)
    self.fields = min(max(fields, 64), 32768)
    self.count = min(max(count, 1), 1024)
  }
}
