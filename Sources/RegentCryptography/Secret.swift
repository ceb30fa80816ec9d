internal import CRegentOpenSSL
internal import RegentEncodings

/// Secret bytes: a key, a password, a bearer token.
///
/// It has no `==`: compare with ``matches(_:)-(Secret)``, which takes constant time. Its description shows only the
/// length. Copies of the value share its memory, which is wiped when the last copy goes away. The caller must wipe the
/// data from which it was made.
public struct Secret: Sendable {
  private let storage: Storage

  public init(copying bytes: Span<UInt8>) {
    storage = Storage(count: bytes.count)
    storage.fill(bytes)
  }

  public init(copying bytes: [UInt8]) { self.init(copying: bytes.span) }

  public init(_ text: String) { self.init(copying: text.utf8.span) }

  /// Copies `bytes` and wipes the original, unless another variable shares its storage.
  public init(wiping bytes: consuming [UInt8]) {
    self.init(copying: bytes.span)
    wipe(&bytes)
  }

  /// Copies `bytes`, then wipes and empties the variable.
  ///
  /// Use this for a variable or a member: passing one to ``init(wiping:)`` may pass a second reference to its storage,
  /// and then only a copy is wiped.
  public init(emptying bytes: inout [UInt8]) {
    self.init(copying: bytes.span)
    wipe(&bytes)
  }

  /// The number of bytes of the secret.
  public var count: Int { storage.count }

  /// Calls `body` with the bytes of the secret.
  ///
  /// `body` must not keep them.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.lend(body)
  }

  /// Whether both secrets are the same bytes.
  ///
  /// Compares in constant time.
  public func matches(_ other: Secret) -> Bool {
    other.withBytes { matches($0) }
  }

  /// Whether the secret equals these bytes.
  ///
  /// Compares in constant time.
  public func matches(_ other: Span<UInt8>) -> Bool {
    withBytes { constantTimeEqual($0, other) }
  }

  /// Whether the secret equals these bytes.
  ///
  /// Compares in constant time.
  public func matches(_ other: [UInt8]) -> Bool { matches(other.span) }

  /// An unprotected copy of the bytes, for the few places that need an array.
  ///
  /// The conspicuous name makes these places easy to find.
  public func exposedBytes() -> [UInt8] {
    withBytes { [UInt8](copying: $0) }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Shows only the length, so that printing the secret does not reveal it.
  public var description: String { "Secret(\(count) bytes)" }
  /// Shows only the length, so that printing the secret does not reveal it.
  public var debugDescription: String { description }
  /// Hides the stored properties from `dump` and other reflection.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Overwrites the bytes of the array, which the compiler cannot optimise away, and empties the array.
///
/// If another variable shares the array's storage, that storage is not wiped.
func wipe(_ bytes: inout [UInt8]) {
  // If another variable shares the storage, this copies it first and wipes only the copy. That is useless but harmless.
  unsafe bytes.withUnsafeMutableBytes { buffer in
    unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
  }
  bytes = []
}

/// The memory of a secret, wiped at the end of its life.
// @unchecked Sendable:
// 1. The memory is written only before `Secret.init` returns.
// 2. After that it is only read.
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
