internal import RegentEncodings
public import RegentPairing

/// The parts that the signed headers of a repeated request have in common: everything except nonce, time and signature.
///
/// The shape holds only ranges. The caller must also keep the header from which the shape was made.
public struct SignedHeaderShape: Sendable {
  /// The parts of a repeated request's signed header that are new each time: nonce, time and signature.
  ///
  /// The rest equals the client's previous header and is not parsed again. The signature still covers the whole text.
  public struct HeaderChange: Sendable {
    /// The range of the nonce (the single-use value) in the header.
    public let nonce: Range<Int>
    public let requestTime: Instant
    /// The range of the text that the signature covers.
    public let signedText: Range<Int>
    public let signature: [UInt8]
  }

  private let nonce, requestTime: Range<Int>
  /// The end of the signed text in the header.
  private let signed: Int
  /// The start of the signature in the header.
  private let signature: Int
  public let requestor: RequestorID
  /// The key pair that signed the request.
  public let publicKey: PublicKey
  public let signatureMethod: SignatureMethod

  /// Creates the shape of the header that `call` was parsed from.
  public init(_ call: SignedCall) {
    nonce = call.places.nonce
    requestTime = call.places.requestTime
    signed = call.signedText.count
    signature = signed + publicKeyMark.utf8.count + call.publicKey.text.utf8.count + signatureMark.utf8.count
    requestor = call.requestor
    publicKey = call.publicKey
    signatureMethod = call.signatureMethod
  }

  /// Parses a header of this shape.
  ///
  /// Returns `nil` if it differs in more than nonce, time and signature, or is malformed.
  ///
  /// The result equals that of ``SignedHeader/read(_:)-(Span<UInt8>)``: a value contains no comma, so two values
  /// between identical bytes belong to the same two fields.
  public func read(_ header: Span<UInt8>, like known: Span<UInt8>) -> HeaderChange? {
    guard header.count <= SignedHeader.longest, known.count >= signature else { return nil }
    let isNonceFirst = nonce.lowerBound < requestTime.lowerBound
    let (one, other) = isNonceFirst ? (nonce, requestTime) : (requestTime, nonce)
    guard header.has(known.extracting(0..<one.lowerBound), from: 0) else { return nil }
    let first = one.lowerBound..<header.endOfValue(from: one.lowerBound)
    let between = known.extracting(one.upperBound..<other.lowerBound)
    guard header.has(between, from: first.upperBound) else { return nil }
    let start = first.upperBound + between.count
    let second = start..<header.endOfValue(from: start)
    let rest = known.extracting(other.upperBound..<signature)
    guard header.has(rest, from: second.upperBound) else { return nil }
    let (nonce, time) = isNonceFirst ? (first, second) : (second, first)
    guard (1...128).contains(nonce.count), let milliseconds = header.extracting(time).number,
      let read = try? Base64.decode(header.extracting((second.upperBound + rest.count)..<header.count)), !read.isEmpty
    else { return nil }
    return HeaderChange(
      nonce: nonce, requestTime: Instant(milliseconds: milliseconds),
      signedText: 0..<(second.upperBound + signed - other.upperBound), signature: read)
  }
}

extension Span<UInt8> {
  /// The end of the field's value that begins at `start`.
  fileprivate func endOfValue(from start: Int) -> Int { endOfPlainText(from: start, before: UInt8(ascii: ",")) }
}
