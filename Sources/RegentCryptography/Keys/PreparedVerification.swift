internal import CRegentOpenSSL

/// Everything about verifying with one key that does not depend on the message, done once.
///
/// OpenSSL 3 looks its algorithms up by name whenever a verification starts from the key alone, which takes about as
/// long as half an RSA verification; a copy of a context that has started takes a fraction of a microsecond.
// @unchecked Sendable:
// 1. The context is written in `init` alone.
// 2. Afterwards OpenSSL only copies from it, and its copy function takes its source as const.
@safe final class PreparedVerification: @unchecked Sendable {
  private let template: OpaquePointer

  /// None for keys that hash on their own (Ed25519).
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

  /// True when `signature`, in OpenSSL's form, is one of the message that `digest` is the hash of.
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
