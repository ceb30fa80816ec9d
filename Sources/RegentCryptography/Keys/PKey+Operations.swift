internal import CRegentOpenSSL

extension PKey {
  static func generate(
    _ algorithm: SignatureAlgorithm, rsaBits: Int
  ) throws(KeyError) -> PKey {
    let name =
      switch algorithm {
      case .rs256: "RSA"
      case .es256: "EC"
      case .edDSA: "ED25519"
      }
    OpenSSLLifetime.keep()
    do throws(LibraryError) {
      // RAND_poll reads fresh bytes from the kernel. A virtual machine that was restored from a snapshot has the old
      // state of the generator and would make the same key again without them.
      try check(RAND_poll(), "make a key")
      guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, name, nil) else {
        throw LibraryError("make a key")
      }
      defer { unsafe EVP_PKEY_CTX_free(context) }
      try check(unsafe EVP_PKEY_keygen_init(context), "make a key")
      switch algorithm {
      case .rs256:
        try check(
          unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(rsaBits)), "make a key")
      case .es256:
        try check(unsafe EVP_PKEY_CTX_set_group_name(context, "P-256"), "make a key")
      case .edDSA: break
      }
      var handle: OpaquePointer?
      try check(unsafe EVP_PKEY_generate(context, &handle), "make a key")
      guard let handle = unsafe handle else { throw LibraryError("make a key") }
      return try unsafe owned(handle)
    } catch {
      throw .library(error)
    }
  }

  private static func owned(_ handle: OpaquePointer) throws(LibraryError) -> PKey {
    do throws(KeyError) {
      return try unsafe PKey(owning: handle)
    } catch {
      throw LibraryError("make a key of the wanted kind")
    }
  }

  /// Signs a message with a key whose algorithm includes the hash (Ed25519).
  func sign(_ message: Span<UInt8>) throws(LibraryError) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { throw LibraryError("sign") }
    defer { unsafe EVP_MD_CTX_free(context) }
    try check(unsafe EVP_DigestSignInit(context, nil, nil, nil, handle), "sign")
    var length = Int(unsafe EVP_PKEY_get_size(handle))
    var signature = [UInt8](repeating: 0, count: length)
    let result = unsafe message.withUnsafeBufferPointer { buffer in
      unsafe EVP_DigestSign(context, &signature, &length, buffer.baseAddress, buffer.count)
    }
    try check(result, "sign")
    return Array(signature.prefix(length))
  }

  /// Whether `signature`, in OpenSSL's format (DER for ECDSA), is a valid signature of `message`.
  func verifies(_ signature: [UInt8], _ message: Span<UInt8>, digest: Digest?) -> Bool {
    defer { forgetErrors() }
    guard let context = unsafe EVP_MD_CTX_new() else { stop(LibraryError("verify")) }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestVerifyInit(context, nil, digest?.handle, nil, handle) == 1 else {
      return false
    }
    return unsafe message.withUnsafeBufferPointer { buffer in
      unsafe EVP_DigestVerify(
        context, signature, signature.count, buffer.baseAddress, buffer.count) == 1
    }
  }
}
