internal import CRegentOpenSSL
internal import RegentEncodings

/// One encryption or decryption with AES-256-GCM.
///
/// When this value goes away, the context with the key schedule is wiped.
@safe struct GCM: ~Copyable {
  private let context: OpaquePointer

  init(_ secret: Secret, nonce: [UInt8], encrypts: Bool) {
    guard let context = unsafe EVP_CIPHER_CTX_new() else { stop(LibraryError("start a cipher")) }
    unsafe self.context = context
    let direction: Int32 = encrypts ? 1 : 0
    secret.withBytes { key in
      precondition(key.count == 32 && nonce.count == 12, "AES-256-GCM: 32 and 12 bytes")
      unsafe key.withUnsafeBufferPointer { key in
        must(
          unsafe EVP_CipherInit_ex2(
            context, Cipher.aes256GCM.handle, key.baseAddress, nonce, direction, nil),
          "start a cipher")
      }
    }
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// Adds associated data, which is authenticated but not encrypted.
  func authenticate(_ data: [UInt8]) {
    // Some versions of OpenSSL take a call without data as the end of the associated data.
    guard !data.isEmpty else { return }
    var length: Int32 = 0
    must(
      unsafe EVP_CipherUpdate(context, nil, &length, data, Int32(data.count)),
      "authenticate data")
  }

  func transform(_ bytes: Span<UInt8>) -> [UInt8] {
    guard bytes.count > 0 else { return [] }
    var length: Int32 = 0
    var output = [UInt8](zeros: bytes.count)
    unsafe bytes.withUnsafeBufferPointer { buffer in
      must(
        unsafe EVP_CipherUpdate(
          context, &output, &length, buffer.baseAddress, Int32(buffer.count)),
        "run a cipher")
    }
    return output
  }

  /// The authentication tag.
  ///
  /// Call this after all data was encrypted.
  func finishedTag() -> [UInt8] {
    var length: Int32 = 0
    var rest: [UInt8] = [0]
    must(unsafe EVP_CipherFinal_ex(context, &rest, &length), "finish a cipher")
    var tag = [UInt8](zeros: 16)
    must(
      unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag), "take a tag")
    return tag
  }

  /// Whether `tag` authenticates all data that was decrypted.
  func tagIsRight(_ tag: [UInt8]) -> Bool {
    var tag = tag
    var length: Int32 = 0
    var rest: [UInt8] = [0]
    must(
      unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag),
      "set a tag")
    let isRight = unsafe EVP_CipherFinal_ex(context, &rest, &length) == 1
    forgetErrors()
    return isRight
  }
}
