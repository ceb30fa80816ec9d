internal import CRegentOpenSSL

/// A key in OpenSSL.
///
/// It is immutable, and the last reference frees it.
// @unchecked Sendable:
// 1. This class does not change the key after `init`.
// 2. OpenSSL locks the caches inside a key.
// 3. Each operation uses its own context.
@safe final class PKey: @unchecked Sendable {
  let handle: OpaquePointer
  let algorithm: SignatureAlgorithm

  /// Takes ownership of the OpenSSL key `handle`, which is freed also when this initialiser refuses the key.
  init(owning handle: OpaquePointer) throws(KeyError) {
    unsafe self.handle = handle
    // `algorithm` is the last stored property to be set. From then on, deinit frees the handle if a check below throws.
    algorithm =
      unsafe EVP_PKEY_is_a(handle, "RSA") == 1
      ? .rs256 : EVP_PKEY_is_a(handle, "EC") == 1 ? .es256 : .edDSA
    forgetErrors()
    switch algorithm {
    case .rs256:
      let bits = Int(unsafe EVP_PKEY_get_bits(handle))
      guard (2048...4096).contains(bits) else { throw .rsaSize(bits: bits) }
      guard hasSensibleRSANumbers() else {
        throw .malformed("an RSA key needs an odd modulus and an odd exponent of 3 to 2³² - 1")
      }
    case .es256:
      let name = curveName()
      guard name == "prime256v1" else {
        throw .unsupported("the curve \(name ?? "without a name")")
      }
      // Attackers forged keys with curves that are given by explicit parameters (CVE-2020-0601); RFC 5480 forbids such
      // curves.
      guard !hasExplicitCurve() else { throw .unsupported("a curve given by its parameters") }
    case .edDSA:
      guard unsafe EVP_PKEY_is_a(handle, "ED25519") == 1 else {
        throw .unsupported("this kind of key")
      }
    }
  }

  deinit { unsafe EVP_PKEY_free(handle) }

  /// Whether modulus and exponent of the RSA key are odd, and the exponent is from 3 to 2³² - 1.
  ///
  /// OpenSSL accepts even numbers, with which no signature can be verified, and large exponents, with which
  /// verification is slow.
  private func hasSensibleRSANumbers() -> Bool {
    guard let modulus = try? number("n"), let exponent = try? number("e") else { return false }
    let isOdd = (modulus.last ?? 0) & (exponent.last ?? 0) & 1 == 1
    return isOdd && exponent.count <= 4 && exponent != [1]
  }

  private func curveName() -> String? {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    defer { forgetErrors() }
    guard unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &length) == 1 else {
      return nil
    }
    return String(decoding: name.prefix(length).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }

  private func hasExplicitCurve() -> Bool {
    var isExplicit: Int32 = 0
    defer { forgetErrors() }
    return unsafe EVP_PKEY_get_int_param(handle, "decoded-from-explicit", &isExplicit) == 1
      && isExplicit != 0
  }
}

// MARK: Encodings

extension PKey {
  /// Reads a key from its SubjectPublicKeyInfo (RFC 5280).
  convenience init(spki: [UInt8]) throws(KeyError) {
    if let bytes = DER.ed25519Bytes(spki) {
      try self.init(ed25519: bytes)
      return
    }
    try unsafe self.init(der: Secret(copying: spki), "a public key (SubjectPublicKeyInfo)") {
      start, count in
      unsafe d2i_PUBKEY(nil, start, count)
    }
  }

  /// Makes an Ed25519 key from its 32 bytes without OpenSSL's DER reader.
  ///
  /// That reader tries each of its decoders in turn. This takes a tenth of the time of exchanging a box's assertion for
  /// an app sign-in.
  private convenience init(ed25519 bytes: [UInt8]) throws(KeyError) {
    OpenSSLLifetime.keep()
    let handle = unsafe bytes.withUnsafeBufferPointer {
      unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, $0.baseAddress, $0.count)
    }
    forgetErrors()
    guard let handle = unsafe handle else { throw .malformed("expected a public key (SubjectPublicKeyInfo)") }
    try unsafe self.init(owning: handle)
  }

  /// Reads a private key in PKCS#8 or in the older formats for RSA and EC keys.
  convenience init(privateKey: Secret) throws(KeyError) {
    try unsafe self.init(der: privateKey, "a private key (PKCS#8)") { start, count in
      unsafe d2i_AutoPrivateKey(nil, start, count)
    }
  }

  /// Reads the public key of an X.509 certificate.
  ///
  /// This initialiser checks neither the issuer's signature nor the validity of the certificate.
  convenience init(certificate: [UInt8]) throws(KeyError) {
    try unsafe self.init(der: Secret(copying: certificate), "an X.509 certificate") {
      start, count in
      guard let certificate = unsafe d2i_X509(nil, start, count) else { return nil }
      defer { unsafe X509_free(certificate) }
      return unsafe X509_get_pubkey(certificate)
    }
  }

  private convenience init(
    der: Secret, _ expected: String,
    _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
  ) throws(KeyError) {
    OpenSSLLifetime.keep()
    var used = 0
    let handle = unsafe der.withBytes { der in
      unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        guard let start = buffer.baseAddress else { return nil }
        var place: UnsafePointer<UInt8>? = unsafe start
        let handle = unsafe read(&place, buffer.count)
        used = unsafe place.map { unsafe $0 - start } ?? 0
        return unsafe handle
      }
    }
    forgetErrors()
    guard let handle = unsafe handle else { throw .malformed("expected \(expected)") }
    try unsafe self.init(owning: handle)
    guard used == der.count else { throw .malformed("bytes follow \(expected)") }
  }

  /// The public half as SubjectPublicKeyInfo in one canonical encoding, regardless of the format from which it was
  /// read.
  func spki() throws(LibraryError) -> [UInt8] {
    switch algorithm {
    // If the key was read with a compressed point, OpenSSL would write a compressed point again.
    case .es256: return DER.p256Key(x: try number("qx", size: 32), y: try number("qy", size: 32))
    // OpenSSL's writer is slow for the same reason as its reader, see `init(ed25519:)`, and its table of all encoders
    // takes 65 KB of memory for good.
    case .edDSA: return DER.ed25519Key(try ed25519Bytes())
    case .rs256: return DER.rsaKey(modulus: try number("n"), exponent: try number("e"))
    }
  }

  private func ed25519Bytes() throws(LibraryError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    try check(unsafe EVP_PKEY_get_raw_public_key(handle, &bytes, &count), "read an Ed25519 key")
    guard count == bytes.count else { throw LibraryError("read an Ed25519 key") }
    return bytes
  }

  /// The private key in PKCS#8 format.
  func pkcs8() throws(LibraryError) -> Secret {
    guard let info = unsafe EVP_PKEY2PKCS8(handle) else {
      throw LibraryError("write a private key")
    }
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
    let length = unsafe i2d_PKCS8_PRIV_KEY_INFO(info, nil)
    guard length > 0 else { throw LibraryError("write a private key") }
    var der = [UInt8](repeating: 0, count: Int(length))
    unsafe der.withUnsafeMutableBufferPointer { buffer in
      var place = buffer.baseAddress
      unsafe i2d_PKCS8_PRIV_KEY_INFO(info, &place)
    }
    return Secret(emptying: &der)
  }

  /// A number of the key, for example the modulus `n`, big-endian without leading zeros, or padded to `size` bytes.
  func number(_ name: String, size: Int = 0) throws(LibraryError) -> [UInt8] {
    var number: OpaquePointer?
    defer { unsafe BN_clear_free(number) }
    try check(unsafe EVP_PKEY_get_bn_param(handle, name, &number), "read the key's \(name)")
    let count = max(size, Int((unsafe BN_num_bits(number) + 7) / 8))
    var bytes = [UInt8](repeating: 0, count: count)
    guard unsafe BN_bn2binpad(number, &bytes, Int32(count)) == Int32(count) else {
      throw LibraryError("read the key's \(name)")
    }
    return bytes
  }
}
