internal import CRegentOpenSSL

/// Everything about signing with one key that does not depend on the message, done once.
///
/// A signature that starts from the key alone looks its algorithms up by name each time: a sixth of what one with ES256
/// costs.
// @unchecked Sendable:
// 1. The context is written in `init` alone.
// 2. Afterwards OpenSSL only copies from it, and its copy function takes its source as const.
@safe final class PreparedSigning: @unchecked Sendable {
  private let template: OpaquePointer
  private let longest: Int

  /// None for keys that hash on their own (Ed25519).
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

  /// The signature in OpenSSL's form of the message that `digest` is the hash of.
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
