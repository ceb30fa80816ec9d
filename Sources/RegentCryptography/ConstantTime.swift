internal import CRegentOpenSSL

/// Whether both arguments are the same bytes, in a time that depends only on their lengths.
///
/// Use it for every value that an attacker may guess: the time of `==` shows how many leading bytes of a guess are
/// right. Lengths are not secret.
public func constantTimeEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
  guard one.count == other.count else { return false }
  guard one.count > 0 else { return true }
  return unsafe one.withUnsafeBytes { one in
    unsafe other.withUnsafeBytes { other in
      unsafe CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
    }
  }
}

/// Whether both arguments are the same bytes, in a time that depends only on their lengths.
public func constantTimeEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
  constantTimeEqual(one.span, other.span)
}
