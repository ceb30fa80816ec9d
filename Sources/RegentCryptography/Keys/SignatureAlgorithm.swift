/// The supported signature algorithms, with their JOSE names (RFC 7518, RFC 8037).
///
/// Each key has exactly one.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256 and a key of 2048 to 4096 bits.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256. A signature is r ‖ s (the two numbers, 32 bytes each).
  case es256 = "ES256"
  case edDSA = "EdDSA"
}
