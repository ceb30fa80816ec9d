internal import RegentEncodings

/// A SHA-256 hash in progress (FIPS 180-4).
public struct SHA256: ~Copyable {
  /// The length of a SHA-256 hash in bytes.
  public static let size = 32

  private let context = DigestContext(.sha256)

  /// Starts a hash; ``update(_:)-(Span<UInt8>)`` adds bytes and ``finish()`` ends it.
  public init() {}

  public mutating func update(_ bytes: Span<UInt8>) { context.update(bytes) }

  public mutating func update(_ bytes: [UInt8]) { context.update(bytes.span) }

  /// The hash of all bytes that were added; consumes the value.
  public consuming func finish() -> [UInt8] { context.finish() }

  public static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
    let hash = fixed(bytes)
    return [UInt8](copying: hash.span)
  }

  public static func hash(_ bytes: [UInt8]) -> [UInt8] { hash(bytes.span) }

  public static func hash(_ text: String) -> [UInt8] { hash(text.utf8.span) }
}
