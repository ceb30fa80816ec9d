internal import RegentEncodings
public import RegentPairing

/// Reads and writes the signed `Authorization` header, which has this form.
///
///     GET requestor_id=R, nonce=N, signature_method=HMAC-SHA1, request_time=MS, request_uri=/path, public_key=K,
///     signature=S
public enum SignedHeader {
  /// The longest header that is parsed, in bytes.
  public static let longest = 4096

  /// Whether an `Authorization` header is meant as a signed header: it contains `=` and is not a `Bearer` token.
  public static func isMeant(by header: String) -> Bool {
    header.utf8.contains(UInt8(ascii: "=")) && !header.lowercased().hasPrefix("bearer ")
  }

  /// Parses a signed header.
  ///
  /// Its contents are not trustworthy until the caller has checked the signature over ``SignedCall/signedText``.
  ///
  /// The signed text is everything before `, public_key=`, exactly as received. Each field must occur once. Unknown
  /// fields are covered by the signature and otherwise ignored. Only one encoding of the signature is accepted, because
  /// a second one would let a replayed header look new.
  public static func read(_ header: String) throws(SignedHeaderError) -> SignedCall {
    try read(header.utf8.span)
  }

  /// Parses a signed header in place.
  ///
  /// Every signed request passes through here, so nothing is copied.
  public static func read(_ header: Span<UInt8>) throws(SignedHeaderError) -> SignedCall {
    guard header.count <= longest else { throw .tooLong }
    var fields = SignedFields()
    let signed = try fields.read(header)
    let keyStart = signed + publicKeyMark.utf8.count
    guard let keyEnd = header.first(UInt8(ascii: ","), from: keyStart),
      header.spells(signatureMark, from: keyEnd)
    else { throw .missing("signature") }
    return try fields.call(
      header, signed: 0..<signed, publicKey: keyStart..<keyEnd,
      signature: (keyEnd + signatureMark.utf8.count)..<header.count)
  }

  public static func textToSign(
    method: String, requestor: RequestorID, nonce: String, signatureMethod: SignatureMethod,
    requestTime: Instant, requestURI: String
  ) -> String {
    "\(method) requestor_id=\(requestor), nonce=\(nonce), signature_method=\(signatureMethod.rawValue), "
      + "request_time=\(requestTime.milliseconds), request_uri=\(requestURI)"
  }

  /// Builds the signed header from the signed text, the key and the signature.
  public static func header(textToSign: String, publicKey: PublicKey, signature: [UInt8]) -> String {
    "\(textToSign), public_key=\(publicKey), signature=\(Base64.encode(signature))"
  }
}

/// Why a header is not a signed request.
///
/// For the log only: the client gets the same response for all of them.
public enum SignedHeaderError: Error, Hashable, Sendable {
  /// The header exceeds ``SignedHeader/longest``.
  case tooLong
  /// The header does not have the form described at ``SignedHeader``.
  case malformed
  case missing(String)
  case repeated(String)
  case unreadable(String)
}

/// The text in a header that ends the signed text.
let publicKeyMark = ", public_key="
let signatureMark = ", signature="

/// The method and the fields before the public key, as ranges in the header.
///
/// The values are copied only when they are needed.
private struct SignedFields {
  private var method = 0..<0
  private var values = InlineArray<5, Range<Int>?>(repeating: nil)

  private static func name(_ place: Int) -> String {
    switch place {
    case 0: "requestor_id"
    case 1: "nonce"
    case 2: "signature_method"
    case 3: "request_time"
    default: "request_uri"
    }
  }

  /// The index of the field with this name in the signed header.
  ///
  /// The length of the name identifies most fields.
  private static func place(of name: Range<Int>, in header: Span<UInt8>) -> Int? {
    let place =
      switch name.count {
      case 5: 1
      case 11: 4
      // `requestor_id` or `request_time`: byte 7 differs.
      case 12: header[name.lowerBound + 7] == UInt8(ascii: "o") ? 0 : 3
      case 16: 2
      default: 5
      }
    guard place < 5, header.spells(Self.name(place), from: name.lowerBound) else { return nil }
    return place
  }

  /// Parses the header up to the public key, reading each byte once.
  ///
  /// Returns the end of the signed text.
  mutating func read(_ header: Span<UInt8>) throws(SignedHeaderError) -> Int {
    var place = 0
    while place < header.count, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(header[place]) { place += 1 }
    guard (1...16).contains(place), place < header.count, header[place] == UInt8(ascii: " ") else {
      throw .malformed
    }
    method = 0..<place
    repeat {
      place = try readField(header, from: place + 1)
      guard place < header.count else { throw .missing("public_key") }
      // Tolerates one extra comma before the public key, as earlier versions did.
      if header.isPublicKeyMark(at: place + 1) { place += 1 }
    } while !header.isPublicKeyMark(at: place)
    return place
  }

  /// Parses one field of a signed header.
  ///
  /// Returns the field's end, which is a comma or the end of the header.
  private mutating func readField(
    _ header: Span<UInt8>, from start: Int
  ) throws(SignedHeaderError) -> Int {
    var start = start
    while start < header.count, header[start] == UInt8(ascii: " ") { start += 1 }
    var equals = start
    while equals < header.count, header[equals] != UInt8(ascii: "="), header[equals].isText { equals += 1 }
    guard equals > start, equals < header.count, header[equals] == UInt8(ascii: "=") else { throw .malformed }
    let end = header.endOfPlainText(from: equals + 1, before: UInt8(ascii: ","))
    guard end == header.count || header[end] == UInt8(ascii: ",") else { throw .malformed }
    if let place = Self.place(of: start..<equals, in: header) {
      guard values[place] == nil else { throw .repeated(Self.name(place)) }
      values[place] = (equals + 1)..<end
    }
    return end
  }

  private func value(_ place: Int) throws(SignedHeaderError) -> Range<Int> {
    guard let value = values[place], !value.isEmpty else { throw .missing(Self.name(place)) }
    return value
  }

  func call(
    _ header: Span<UInt8>, signed: Range<Int>, publicKey: Range<Int>, signature: Range<Int>
  ) throws(SignedHeaderError) -> SignedCall {
    guard let requestor = RequestorID(header.text(try value(0))) else { throw .unreadable("requestor_id") }
    let nonce = try value(1)
    guard nonce.count <= 128 else { throw .unreadable("nonce") }
    let written = try value(2)
    guard
      let signatureMethod = SignatureMethod.allCases.first(where: {
        $0.rawValue.utf8.count == written.count && header.spells($0.rawValue, from: written.lowerBound)
      })
    else { throw .unreadable("signature_method") }
    guard let milliseconds = header.extracting(try value(3)).number else { throw .unreadable("request_time") }
    guard let publicKey = PublicKey(header.text(publicKey)) else { throw .unreadable("public_key") }
    guard let signature = try? Base64.decode(header.extracting(signature)), !signature.isEmpty
    else { throw .unreadable("signature") }
    let places = SignedCall.Places(method: method, nonce: nonce, requestTime: try value(3), requestURI: try value(4))
    return SignedCall(
      signedText: header.bytes(signed), places, requestor: requestor, signatureMethod: signatureMethod,
      requestTime: Instant(milliseconds: milliseconds), publicKey: publicKey, signature: signature)
  }
}

extension UInt8 {
  /// Whether the byte may occur in a field of a signed header: printable ASCII except the comma.
  fileprivate var isText: Bool { self >= 0x20 && self <= 0x7E && self != UInt8(ascii: ",") }
}

extension Span<UInt8> {
  fileprivate func first(_ byte: UInt8, from start: Int) -> Int? {
    var place = start
    while place < count {
      if self[place] == byte { return place }
      place += 1
    }
    return nil
  }

  /// Whether the signed text of a header ends here, before the public key.
  ///
  /// The third byte rules out nearly all other fields.
  fileprivate func isPublicKeyMark(at place: Int) -> Bool {
    place + 2 < count && self[place + 2] == UInt8(ascii: "p") && spells(publicKeyMark, from: place)
  }

  /// The bytes in the range as text, or an empty text if they are not UTF-8.
  ///
  /// The caller has checked the bytes, or checks the result.
  fileprivate func text(_ range: Range<Int>) -> String {
    guard let text = try? UTF8Span(validating: extracting(range)) else { return "" }
    return String(copying: text)
  }

  fileprivate func bytes(_ range: Range<Int>) -> [UInt8] {
    [UInt8](copying: extracting(range))
  }
}
