/// What a signed `Authorization` header says, and the text that its signature covers.
///
/// Reading the header is RegentPairingWire's part, comparing the signature is the service's
/// (`Credentials`). Every signed call makes one, so its texts are places in the signed text, not copies.
public struct SignedCall: Hashable, Sendable {
  /// Where its texts stand in what was signed.
  public struct Places: Hashable, Sendable {
    public let method, nonce, requestTime, requestURI: Range<Int>

    /// Each of them within the signed text, whose characters are of ASCII.
    public init(method: Range<Int>, nonce: Range<Int>, requestTime: Range<Int>, requestURI: Range<Int>) {
      self.method = method
      self.nonce = nonce
      self.requestTime = requestTime
      self.requestURI = requestURI
    }
  }

  /// Whose app calls.
  public let requestor: RequestorID
  /// How the signature was made.
  public let signatureMethod: SignatureMethod
  /// When the caller signed, by its own clock.
  public let requestTime: Instant
  /// Which key pair signed.
  public let publicKey: PublicKey
  public let signature: [UInt8]
  /// The bytes that the signature covers, exactly as received.
  public let signedText: [UInt8]
  public let places: Places

  /// A header that has been read.
  public init(
    signedText: [UInt8], _ places: Places, requestor: RequestorID, signatureMethod: SignatureMethod,
    requestTime: Instant, publicKey: PublicKey, signature: [UInt8]
  ) {
    self.signedText = signedText
    self.places = places
    self.requestor = requestor
    self.signatureMethod = signatureMethod
    self.requestTime = requestTime
    self.publicKey = publicKey
    self.signature = signature
  }

  /// The method word that was signed.
  public var method: String { text(places.method) }
  /// A value that this key uses once.
  public var nonce: String { text(places.nonce) }
  /// The path that was signed, as the caller wrote it.
  public var requestURI: String { text(places.requestURI) }

  private func text(_ range: Range<Int>) -> String { String(decoding: signedText[range], as: UTF8.self) }
}

/// How a signed header was signed.
public enum SignatureMethod: String, Hashable, Sendable, CaseIterable {
  /// The historic method, which public clients use.
  case hmacSHA1 = "HMAC-SHA1"
  /// What our SDK uses.
  case hmacSHA256 = "HMAC-SHA256"
}
