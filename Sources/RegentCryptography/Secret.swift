internal import CRegentOpenSSL
internal import RegentEncodings

/// Bytes that nobody may see: a key, a password, a bearer token.
///
/// No `==` (compare with ``matches(_:)-(Secret)``, which takes the same time wherever two secrets differ), a
/// description that tells only the length, and memory that is wiped when the last copy of the value goes away.
/// Copies of the value share that memory. What the bytes were made from is the caller's to wipe.
public struct Secret: Sendable {
  private let storage: Storage

  /// Copies `bytes`.
  public init(copying bytes: Span<UInt8>) {
    storage = Storage(count: bytes.count)
    storage.fill(bytes)
  }

  /// Copies `bytes`.
  public init(copying bytes: [UInt8]) { self.init(copying: bytes.span) }

  /// The UTF-8 form of a text.
  public init(_ text: String) { self.init(copying: text.utf8.span) }

  /// Copies `bytes` and wipes them, when nothing else holds them.
  public init(wiping bytes: consuming [UInt8]) {
    self.init(copying: bytes.span)
    wipe(&bytes)
  }

  /// How many bytes.
  public var count: Int { storage.count }

  /// Lends the bytes; nothing may keep them longer than the call.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.lend(body)
  }

  /// True when both are the same bytes; takes the same time wherever they differ.
  public func matches(_ other: Secret) -> Bool {
    other.withBytes { matches($0) }
  }

  /// True when the secret is these bytes; takes the same time wherever they differ.
  public func matches(_ other: Span<UInt8>) -> Bool {
    withBytes { constantTimeEqual($0, other) }
  }

  /// True when the secret is these bytes; takes the same time wherever they differ.
  public func matches(_ other: [UInt8]) -> Bool { matches(other.span) }

  /// A copy of the bytes, for the few places that must have an array; the name is there to be searched for.
  public func exposedBytes() -> [UInt8] {
    withBytes { [UInt8](copying: $0) }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Only the length.
  public var description: String { "Secret(\(count) bytes)" }
  /// Only the length.
  public var debugDescription: String { description }
  /// Nothing to look into.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Overwrites bytes in a way the compiler may not leave out, when the array is not shared, and empties the array.
func wipe(_ bytes: inout [UInt8]) {
  // A shared array would be copied first and the copy wiped: useless, but harmless.
  unsafe bytes.withUnsafeMutableBytes { buffer in
    unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
  }
  bytes = []
}

/// Memory of its own, wiped at the end.
// @unchecked Sendable:
// 1. The memory is written only before `Secret.init` returns.
// 2. Afterwards it is only read.
// 3. It is wiped and freed when the last reference is gone.
@safe private final class Storage: @unchecked Sendable {
  let count: Int
  private let memory: UnsafeMutableBufferPointer<UInt8>

  init(count: Int) {
    self.count = count
    unsafe memory = .allocate(capacity: count)
    unsafe memory.initialize(repeating: 0)
  }

  deinit {
    unsafe OPENSSL_cleanse(memory.baseAddress, count)
    unsafe memory.deallocate()
  }

  func fill(_ bytes: Span<UInt8>) {
    for place in bytes.indices { unsafe memory[place] = bytes[place] }
  }

  func lend<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeBufferPointer(memory).span)
  }
}
