internal import RegentEncodings

/// SHA-256 (FIPS 180-4).
public struct SHA256: ~Copyable {
  /// The length of a result in bytes.
  public static let size = 32

  private let context = DigestContext(.sha256)

  /// A hash of nothing yet.
  public init() {}

  /// Adds bytes.
  public mutating func update(_ bytes: Span<UInt8>) { context.update(bytes) }

  /// Adds bytes.
  public mutating func update(_ bytes: [UInt8]) { context.update(bytes.span) }

  /// The hash of everything added; the value is used up.
  public consuming func finish() -> [UInt8] { context.finish() }

  /// The hash of `bytes`.
  public static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
    let hash = fixed(bytes)
    return [UInt8](copying: hash.span)
  }

  /// The hash of `bytes`.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] { hash(bytes.span) }

  /// The hash of a text in UTF-8.
  public static func hash(_ text: String) -> [UInt8] { hash(text.utf8.span) }
}
