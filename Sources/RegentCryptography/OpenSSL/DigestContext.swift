internal import CRegentOpenSSL

/// A hash in progress.
///
/// When this value goes away, OpenSSL wipes and frees its state.
@safe struct DigestContext: ~Copyable {
  private let handle: OpaquePointer
  private let size: Int

  init(_ digest: Digest) {
    unsafe handle = DigestContext.make()
    size = digest.size
    must(unsafe EVP_DigestInit_ex2(handle, digest.handle, nil), "start a hash")
  }

  deinit { unsafe EVP_MD_CTX_free(handle) }

  func update(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { buffer in
      must(unsafe EVP_DigestUpdate(handle, buffer.baseAddress, buffer.count), "hash")
    }
  }

  /// Writes the hash to the start of `output`, which must have at least `size` bytes.
  func finish(into output: inout MutableSpan<UInt8>) {
    precondition(output.count >= size, "a hash needs \(size) bytes")
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      must(unsafe EVP_DigestFinal_ex(handle, buffer.baseAddress, nil), "finish a hash")
    }
  }

  func finish() -> [UInt8] {
    var result = [UInt8](repeating: 0, count: size)
    var span = result.mutableSpan
    finish(into: &span)
    return result
  }

  private static func make() -> OpaquePointer {
    guard let handle = unsafe EVP_MD_CTX_new() else { stop(LibraryError("start a hash")) }
    return unsafe handle
  }
}
