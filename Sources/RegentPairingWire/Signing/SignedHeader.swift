internal import RegentEncodings
public import RegentPairing

/// The signed `Authorization` header: how it is read and how it is written.
///
///     GET requestor_id=R, nonce=N, signature_method=HMAC-SHA1, request_time=MS, request_uri=/path, public_key=K,
///     signature=S
public enum SignedHeader {
  /// The longest header that is looked at, in bytes.
  public static let longest = 4096

  /// Whether a header is of this kind: neither `Bearer` nor anything else that HTTP knows.
  public static func isMeant(by header: String) -> Bool {
    header.utf8.contains(UInt8(ascii: "=")) && !header.lowercased().hasPrefix("bearer ")
  }

  /// Reads a header; what it says is not true until the signature has been checked over ``SignedCall/signedText``.
  ///
  /// The signed text is what stands before `, public_key=`, exactly as received. Every field is there once; fields that
  /// nobody knows are signed along and otherwise ignored. The signature has one form only: a second one would give a
  /// replayed header another face.
  public static func read(_ header: String) throws(SignedHeaderError) -> SignedCall {
    try read(header.utf8.span)
  }

  /// Reads a header where it lies, because every signed call comes through here.
  public static func read(_ header: Span<UInt8>) throws(SignedHeaderError) -> SignedCall {
    guard header.count <= longest else { throw .tooLong }
    for place in header.indices where header[place] < 0x20 || header[place] > 0x7E {
      throw .malformed
    }
    guard let key = header.first(", public_key=", from: 0) else { throw .missing("public_key") }
    guard let signature = header.first(", signature=", from: key.upperBound) else {
      throw .missing("signature")
    }
    var fields = SignedFields()
    try fields.read(header.extracting(..<key.lowerBound))
    return try fields.call(
      header, signed: 0..<key.lowerBound, publicKey: key.upperBound..<signature.lowerBound,
      signature: signature.upperBound..<header.count)
  }

  /// The text to sign.
  public static func textToSign(
    method: String, requestor: RequestorID, nonce: String, signatureMethod: SignatureMethod,
    requestTime: Instant, requestURI: String
  ) -> String {
    "\(method) requestor_id=\(requestor), nonce=\(nonce), signature_method=\(signatureMethod.rawValue), "
      + "request_time=\(requestTime.milliseconds), request_uri=\(requestURI)"
  }

  /// The header, from the text that was signed.
  public static func header(textToSign: String, publicKey: PublicKey, signature: [UInt8]) -> String {
    "\(textToSign), public_key=\(publicKey), signature=\(Base64.encode(signature))"
  }
}

/// Why a header is no signed call: for the log; the caller gets one and the same answer for all of them.
public enum SignedHeaderError: Error, Hashable, Sendable {
  /// Longer than any sensible one.
  case tooLong
  /// Not of the form above.
  case malformed
  /// A field is not there.
  case missing(String)
  /// A field is there twice.
  case repeated(String)
  /// A field's value cannot be one.
  case unreadable(String)
}

/// The method and fields before the public key, as places in the header: nothing is copied before it is needed.
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

  mutating func read(_ text: Span<UInt8>) throws(SignedHeaderError) {
    guard let space = text.first(UInt8(ascii: " "), from: 0) else { throw .malformed }
    method = 0..<space
    guard (1...16).contains(space) else { throw .malformed }
    for place in method where !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(text[place]) {
      throw .malformed
    }
    var start = space + 1
    while start < text.count {
      let end = text.first(UInt8(ascii: ","), from: start) ?? text.count
      while start < end, text[start] == UInt8(ascii: " ") { start += 1 }
      try keep(start..<end, of: text)
      start = end + 1
    }
  }

  private mutating func keep(_ field: Range<Int>, of text: Span<UInt8>) throws(SignedHeaderError) {
    guard let equals = text.first(UInt8(ascii: "="), from: field.lowerBound),
      equals < field.upperBound, equals > field.lowerBound
    else { throw .malformed }
    let name = field.lowerBound..<equals
    for place in values.indices where text.spells(Self.name(place), at: name) {
      guard values[place] == nil else { throw .repeated(Self.name(place)) }
      values[place] = (equals + 1)..<field.upperBound
      return
    }
  }

  private func value(_ place: Int, _ header: Span<UInt8>) throws(SignedHeaderError) -> String {
    guard let value = values[place], !value.isEmpty else { throw .missing(Self.name(place)) }
    return header.text(value)
  }

  func call(
    _ header: Span<UInt8>, signed: Range<Int>, publicKey: Range<Int>, signature: Range<Int>
  ) throws(SignedHeaderError) -> SignedCall {
    guard let requestor = RequestorID(try value(0, header)) else {
      throw .unreadable("requestor_id")
    }
    let nonce = try value(1, header)
    guard nonce.utf8.count <= 128 else { throw .unreadable("nonce") }
    guard let signatureMethod = SignatureMethod(rawValue: try value(2, header)) else {
      throw .unreadable("signature_method")
    }
    let time = try value(3, header)
    guard time.utf8.count <= 15, time.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let milliseconds = Int64(time)
    else { throw .unreadable("request_time") }
    guard let publicKey = PublicKey(header.text(publicKey)) else {
      throw .unreadable("public_key")
    }
    guard let signature = try? Base64.decode(header.extracting(signature)), !signature.isEmpty
    else { throw .unreadable("signature") }
    return SignedCall(
      method: header.text(method), requestor: requestor, nonce: nonce,
      signatureMethod: signatureMethod, requestTime: Instant(milliseconds: milliseconds),
      requestURI: try value(4, header), publicKey: publicKey, signature: signature,
      signedText: header.bytes(signed))
  }
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

  /// Where a text stands for the first time.
  fileprivate func first(_ text: String, from start: Int) -> Range<Int>? {
    let length = text.utf8.count
    guard let opening = text.utf8.first else { return nil }
    var from = start
    while let place = first(opening, from: from), place + length <= count {
      if spells(text, at: place..<(place + length)) { return place..<(place + length) }
      from = place + 1
    }
    return nil
  }

  fileprivate func spells(_ text: String, at range: Range<Int>) -> Bool {
    let letters = text.utf8.span
    guard letters.count == range.count else { return false }
    for place in letters.indices where letters[place] != self[range.lowerBound + place] {
      return false
    }
    return true
  }

  /// The bytes as text; they were seen to be ASCII.
  fileprivate func text(_ range: Range<Int>) -> String {
    guard let text = try? UTF8Span(validating: extracting(range)) else { return "" }
    return String(copying: text)
  }

  fileprivate func bytes(_ range: Range<Int>) -> [UInt8] {
    [UInt8](capacity: range.count) { output in
      for place in range { output.append(self[place]) }
    }
  }
}
