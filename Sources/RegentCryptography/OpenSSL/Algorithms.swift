internal import CRegentOpenSSL

// This target fetches each algorithm from OpenSSL once. `EVP_sha256()` and similar functions fetch theirs at each use,
// which takes longer than hashing 200 bytes.

/// A hash function of OpenSSL.
// @unchecked Sendable, because a pointer is not:
// 1. A fetched algorithm is immutable, and its references are counted atomically.
// 2. It is never freed.
@safe struct Digest: @unchecked Sendable {
  let handle: OpaquePointer
  let size: Int

  static let sha1 = Digest("SHA1")
  static let sha256 = Digest("SHA2-256")
  static let md5 = Digest("MD5")

  private init(_ name: String) {
    OpenSSLLifetime.keep()
    guard let handle = unsafe EVP_MD_fetch(nil, name, nil) else {
      stop(LibraryError("find the hash function \(name)"))
    }
    unsafe self.handle = handle
    size = Int(unsafe EVP_MD_get_size(handle))
  }
}

/// A cipher of OpenSSL.
// @unchecked Sendable, because a pointer is not:
// 1. A fetched algorithm is immutable, and its references are counted atomically.
// 2. It is never freed.
@safe struct Cipher: @unchecked Sendable {
  let handle: OpaquePointer

  static let aes256GCM = Cipher("AES-256-GCM")

  private init(_ name: String) {
    OpenSSLLifetime.keep()
    guard let handle = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
      stop(LibraryError("find the cipher \(name)"))
    }
    unsafe self.handle = handle
  }
}
