internal import CRegentOpenSSL

/// A SHA-1 or SHA-256 hash in progress, as a value that needs no allocation.
///
/// A copy continues from the same state. Code that hashes secrets must call ``wipe()`` on each copy when it is done.
@safe struct SHAState {
  private var state = regent_sha()

  init(_ algorithm: HMACKey.Algorithm) {
    unsafe regent_sha_start(&state, algorithm == .sha1 ? 1 : 0)
  }

  mutating func add(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe regent_sha_add(&state, $0.baseAddress, $0.count) }
  }

  /// Writes the hash to the start of `hash`.
  ///
  /// The state cannot be used again; start a new hash with ``init(_:)``.
  mutating func finish(into hash: inout [32 of UInt8]) {
    var span = hash.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { unsafe regent_sha_finish(&state, $0.baseAddress) }
  }

  /// Overwrites the state of the hash.
  ///
  /// The compiler cannot optimise this away.
  mutating func wipe() {
    unsafe OPENSSL_cleanse(&state, MemoryLayout<regent_sha>.size)
  }
}

extension SHA256 {
  /// The hash of `bytes` in a fixed array, without an allocation.
  static func fixed(_ bytes: Span<UInt8>) -> [32 of UInt8] {
    var hash: [32 of UInt8] = .init(repeating: 0)
    var state = SHAState(.sha256)
    state.add(bytes)
    state.finish(into: &hash)
    state.wipe()
    return hash
  }
}
