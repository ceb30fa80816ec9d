internal import RegentEncodings
public import RegentPairing

/// What the signed headers of a caller that asks the same again have in common: all but nonce, time and signature.
///
/// It holds no bytes: whoever keeps it keeps the header that it was made of as well.
public struct SignedHeaderShape: Sendable {
  /// What a header says that the one before did not.
  public struct News: Sendable {
    /// Where the nonce stands in the header.
    public let nonce: Range<Int>
    public let requestTime: Instant
    /// Where the text stands that the signature covers.
    public let signedText: Range<Int>
    public let signature: [UInt8]
  }

  private let nonce, requestTime: Range<Int>
  /// Where the signed text ends.
  private let signed: Int
  /// Where the signature begins.
  private let signature: Int
  /// Whose app calls.
  public let requestor: RequestorID
  /// Which key pair signs.
  public let publicKey: PublicKey
  public let signatureMethod: SignatureMethod

  /// The shape of the header that a call was read from.
  public init(_ call: SignedCall) {
    nonce = call.places.nonce
    requestTime = call.places.requestTime
    signed = call.signedText.count
    signature = signed + publicKeyMark.utf8.count + call.publicKey.text.utf8.count + signatureMark.utf8.count
    requestor = call.requestor
    publicKey = call.publicKey
    signatureMethod = call.signatureMethod
  }

  /// Reads a header by one of this shape; nothing when it differs in anything else, or cannot be read.
  ///
  /// What it gives is what ``SignedHeader/read(_:)-(Span<UInt8>)`` would: with the same bytes around them, two values
  /// without a comma are the values of the same two fields.
  public func read(_ header: Span<UInt8>, like known: Span<UInt8>) -> News? {
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
    return News(
      nonce: nonce, requestTime: Instant(milliseconds: milliseconds),
      signedText: 0..<(second.upperBound + signed - other.upperBound), signature: read)
  }
}

extension Span<UInt8> {
  /// Where the value of a field ends that begins at a place.
  fileprivate func endOfValue(from start: Int) -> Int { endOfPlainText(from: start, before: UInt8(ascii: ",")) }
}
