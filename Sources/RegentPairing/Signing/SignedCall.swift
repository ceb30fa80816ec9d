/// A parsed signed `Authorization` header with the text that its signature covers.
///
/// RegentPairingWire parses the header, and the service verifies the signature (`Credentials`). Each signed request
/// creates one, so method, nonce, time and path are ranges in the signed text, not copies.
public struct SignedCall: Hashable, Sendable {
  /// The ranges of the header's values in the signed text.
  public struct Places: Hashable, Sendable {
    public let method, nonce, requestTime, requestURI: Range<Int>

    /// Creates the ranges.
    ///
    /// All must lie within the signed text, which must be ASCII.
    public init(method: Range<Int>, nonce: Range<Int>, requestTime: Range<Int>, requestURI: Range<Int>) {
      self.method = method
      self.nonce = nonce
      self.requestTime = requestTime
      self.requestURI = requestURI
    }
  }

  public let requestor: RequestorID
  public let signatureMethod: SignatureMethod
  /// When the client signed, by its own clock.
  public let requestTime: Instant
  public let publicKey: PublicKey
  public let signature: [UInt8]
  /// The bytes that the signature covers, exactly as received.
  public let signedText: [UInt8]
  public let places: Places

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

  /// The HTTP method that was signed.
  public var method: String { text(places.method) }
  /// The nonce, a random value that a key may use only once.
  public var nonce: String { text(places.nonce) }
  /// The path that was signed, as the client wrote it.
  public var requestURI: String { text(places.requestURI) }

  private func text(_ range: Range<Int>) -> String { String(decoding: signedText[range], as: UTF8.self) }
}

public enum SignatureMethod: String, Hashable, Sendable, CaseIterable {
  /// HMAC-SHA-1, the older signature method, which existing clients use.
  case hmacSHA1 = "HMAC-SHA1"
  /// HMAC-SHA-256, the signature method that AccessEnabler uses.
  case hmacSHA256 = "HMAC-SHA256"
}
