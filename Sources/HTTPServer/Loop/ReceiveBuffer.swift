/// The receive buffer of a loop.
///
/// All connections of the loop share the buffer, because no bytes stay in it.
@safe final class ReceiveBuffer {
  static let capacity = 64 * 1024
  private let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)

  deinit { unsafe bytes.deallocate() }

  /// Calls `fill` to write into the buffer; returns the number of bytes that it wrote, or 0 or less as `recv` does.
  @inline(__always)
  func fill(_ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> Int { unsafe fill(bytes) }

  /// Calls `body` with the first `count` bytes of the buffer.
  @inline(__always)
  func with<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    body(unsafe UnsafeBufferPointer(bytes).span.extracting(first: count))
  }
}
