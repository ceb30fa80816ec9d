/// Why a key cannot be used.
public enum KeyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text or the bytes are not a key. The value says what was expected.
  case malformed(String)
  /// The private key is protected by a password.
  case encrypted
  /// The kind of key or its curve is not supported.
  case unsupported(String)
  /// An RSA key that does not have 2048 to 4096 bits.
  case rsaSize(bits: Int)
  /// The private and the public half do not belong together.
  case inconsistent
  /// The message to encrypt is longer than one RSA block can hold.
  case messageTooLong(limit: Int)
  /// OpenSSL reported an error.
  case library(LibraryError)

  /// A sentence about the error and what to do about it.
  public var description: String {
    switch self {
    case .malformed(let expected): "not a usable key: \(expected)"
    case .encrypted:
      "the private key is protected by a password; write it without one: openssl pkey -in FILE -out NEWFILE"
    case .unsupported(let what):
      "\(what) is not supported; use RSA of 2048 to 4096 bits, P-256 or Ed25519"
    case .rsaSize(let bits): "an RSA key of \(bits) bits; it must have 2048 to 4096"
    case .inconsistent: "the private and the public half of the key do not belong together"
    case .messageTooLong(let limit):
      "the message is longer than the \(limit) bytes this key can encrypt"
    case .library(let error): error.description
    }
  }
}
