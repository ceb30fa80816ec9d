internal import CRegentOpenSSL

/// The part of verifying with one key that does not depend on the message, prepared once.
///
/// Without preparation, OpenSSL 3 looks its algorithms up by name for each verification. The look-up takes about half
/// the time of an RSA verification. Copying a prepared context takes a fraction of a microsecond.
// @unchecked Sendable:
// 1. The context is written only in `init`.
// 2. After that, OpenSSL only copies from it, and its copy function takes the source as const.
@safe final class PreparedVerification: @unchecked Sendable {
  private let template: OpaquePointer

  /// Prepares verification with this key.
  ///
  /// Returns nil for an Ed25519 key, whose algorithm includes the hash.
  init?(_ key: PKey, _ digest: Digest) throws(LibraryError) {
    guard key.algorithm != .edDSA else { return nil }
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil) else {
      throw LibraryError("verify")
    }
    unsafe template = context
    try check(unsafe EVP_PKEY_verify_init(context), "verify")
    if key.algorithm == .rs256 {
      try check(unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), "verify")
    }
    try check(unsafe EVP_PKEY_CTX_set_signature_md(context, digest.handle), "verify")
  }

  deinit { unsafe EVP_PKEY_CTX_free(template) }

  /// Whether `signature`, in OpenSSL's format (DER for ECDSA), is valid for the message whose hash is `digest`.
  func verifies(_ signature: [UInt8], digest: Span<UInt8>) -> Bool {
    guard let context = unsafe EVP_PKEY_CTX_dup(template) else { stop(LibraryError("verify")) }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    let result = unsafe digest.withUnsafeBufferPointer { digest in
      unsafe EVP_PKEY_verify(
        context, signature, signature.count, digest.baseAddress, digest.count)
    }
    guard result == 1 else {
      forgetErrors()
      return false
    }
    return true
  }
}
