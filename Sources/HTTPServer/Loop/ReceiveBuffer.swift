/// Where a loop receives: one buffer for all its connections, as bytes do not stay in it.
@safe final class ReceiveBuffer {
  static let capacity = 64 * 1024
  private let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)

  deinit { unsafe bytes.deallocate() }

  /// Has `fill` write into the buffer and return how many bytes it wrote, or nothing good (0 or less).
  @inline(__always)
  func fill(_ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> Int { unsafe fill(bytes) }

  /// Lends the first `count` bytes.
  @inline(__always)
  func with<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    body(unsafe UnsafeBufferPointer(bytes).span.extracting(first: count))
  }
}
