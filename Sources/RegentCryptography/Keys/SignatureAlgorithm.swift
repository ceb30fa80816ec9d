/// The signature algorithms, by their JOSE names (RFC 7518, RFC 8037).
///
/// A key has exactly one.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256, 2048 to 4096 bits.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256; signatures are r ‖ s, 64 bytes.
  case es256 = "ES256"
  /// Ed25519.
  case edDSA = "EdDSA"
}
