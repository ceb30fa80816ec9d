/// Why a key cannot be used.
public enum KeyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text or bytes are not a key; says what was expected.
  case malformed(String)
  /// A private key behind a password.
  case encrypted
  /// A kind of key or a curve that is not supported.
  case unsupported(String)
  /// An RSA key of too few or too many bits.
  case rsaSize(bits: Int)
  /// The two halves of a key pair do not belong together.
  case inconsistent
  /// The message is longer than one RSA block takes.
  case messageTooLong(limit: Int)
  /// OpenSSL refused.
  case library(LibraryError)

  /// What is wrong and what to do.
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
