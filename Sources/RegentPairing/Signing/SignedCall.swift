/// What a signed `Authorization` header says, and the text that its signature covers.
///
/// Reading the header is RegentPairingWire's part, comparing the signature is the service's
/// (`Credentials`).
public struct SignedCall: Hashable, Sendable {
  /// The method word that was signed.
  public let method: String
  /// Whose app calls.
  public let requestor: RequestorID
  /// A value that this key uses once.
  public let nonce: String
  /// How the signature was made.
  public let signatureMethod: SignatureMethod
  /// When the caller signed, by its own clock.
  public let requestTime: Instant
  /// The path that was signed, as the caller wrote it.
  public let requestURI: String
  /// Which key pair signed.
  public let publicKey: PublicKey
  public let signature: [UInt8]
  /// The bytes that the signature covers, exactly as received.
  public let signedText: [UInt8]

  /// A header that has been read.
  public init(
    method: String, requestor: RequestorID, nonce: String, signatureMethod: SignatureMethod,
    requestTime: Instant, requestURI: String, publicKey: PublicKey, signature: [UInt8],
    signedText: [UInt8]
  ) {
    self.method = method
    self.requestor = requestor
    self.nonce = nonce
    self.signatureMethod = signatureMethod
    self.requestTime = requestTime
    self.requestURI = requestURI
    self.publicKey = publicKey
    self.signature = signature
    self.signedText = signedText
  }
}

/// How a signed header was signed.
public enum SignatureMethod: String, Hashable, Sendable, CaseIterable {
  /// The historic method, which public clients use.
  case hmacSHA1 = "HMAC-SHA1"
  /// What our SDK uses.
  case hmacSHA256 = "HMAC-SHA256"
}
