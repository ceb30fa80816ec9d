internal import CRegentOpenSSL

/// The part of signing with one key that does not depend on the message, prepared once.
///
/// Without preparation, OpenSSL looks its algorithms up by name for each signature. The look-up takes a sixth of the
/// time of an ES256 signature.
// @unchecked Sendable:
// 1. The context is written only in `init`.
// 2. After that, OpenSSL only copies from it, and its copy function takes the source as const.
@safe final class PreparedSigning: @unchecked Sendable {
  private let template: OpaquePointer
  private let longest: Int

  /// Prepares signing with this key.
  ///
  /// Returns nil for an Ed25519 key, whose algorithm includes the hash.
  init?(_ key: PKey, _ digest: Digest) throws(LibraryError) {
    guard key.algorithm != .edDSA else { return nil }
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil) else { throw LibraryError("sign") }
    unsafe template = context
    longest = Int(unsafe EVP_PKEY_get_size(key.handle))
    try check(unsafe EVP_PKEY_sign_init(context), "sign")
    if key.algorithm == .rs256 {
      try check(unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), "sign")
    }
    try check(unsafe EVP_PKEY_CTX_set_signature_md(context, digest.handle), "sign")
  }

  deinit { unsafe EVP_PKEY_CTX_free(template) }

  /// Signs the message whose hash is `digest`; the signature is in OpenSSL's format (DER for ECDSA).
  func sign(digest: Span<UInt8>) throws(LibraryError) -> [UInt8] {
    guard let context = unsafe EVP_PKEY_CTX_dup(template) else { throw LibraryError("sign") }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var length = longest
    var signature = [UInt8](repeating: 0, count: length)
    let result = unsafe digest.withUnsafeBufferPointer { digest in
      unsafe EVP_PKEY_sign(context, &signature, &length, digest.baseAddress, digest.count)
    }
    try check(result, "sign")
    signature.removeLast(signature.count - length)
    return signature
  }
}
