public import Pairing

/// The signed `Authorization` header: how it is read and how it is written.
///
///     GET requestor_id=R, nonce=N, signature_method=HMAC-SHA1, request_time=MS, request_uri=/path, public_key=K, signature=S
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
    let bytes = Array(header.utf8)
    guard bytes.count <= longest else { throw .tooLong }
    guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .malformed }
    guard let (signed, rest) = bytes[...].cut(at: keySeparator) else {
      throw .missing("public_key")
    }
    guard let (key, signature) = rest.cut(at: signatureSeparator) else {
      throw .missing("signature")
    }
    var fields = SignedFields()
    try fields.read(signed)
    return try fields.call(publicKey: key, signature: signature, signedText: Array(signed))
  }

  private static let keySeparator = Array(", public_key=".utf8)
  private static let signatureSeparator = Array(", signature=".utf8)

  /// The text to sign.
  public static func textToSign(
    method: String, requestor: RequestorID, nonce: String, signatureMethod: SignatureMethod,
    requestTime: Instant, requestURI: String
  ) -> String {
    "\(method) requestor_id=\(requestor), nonce=\(nonce), signature_method=\(signatureMethod.rawValue), "
      + "request_time=\(requestTime.milliseconds), request_uri=\(requestURI)"
  }

  /// The header, from the text that was signed.
  public static func header(textToSign: String, publicKey: PublicKey, signature: [UInt8]) -> String
  {
    "\(textToSign), public_key=\(publicKey), signature=\(Base64.text(signature))"
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

/// The method and fields before the public key, as slices of the header: nothing is copied before it is needed.
private struct SignedFields {
  private var method = ArraySlice<UInt8>()
  private var values = [ArraySlice<UInt8>?](repeating: nil, count: Self.names.count)

  private static let names = [
    "requestor_id", "nonce", "signature_method", "request_time", "request_uri",
  ]
  private static let nameBytes = names.map { Array($0.utf8) }

  mutating func read(_ text: ArraySlice<UInt8>) throws(SignedHeaderError) {
    guard let space = text.firstIndex(of: UInt8(ascii: " ")) else { throw .malformed }
    method = text[..<space]
    guard (1...16).contains(method.count),
      method.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
    else { throw .malformed }
    var rest = text[(space + 1)...]
    while !rest.isEmpty {
      let field = rest.prefix { $0 != UInt8(ascii: ",") }
      rest = rest[field.endIndex...].dropFirst()
      try keep(field.drop { $0 == UInt8(ascii: " ") })
    }
  }

  private mutating func keep(_ field: ArraySlice<UInt8>) throws(SignedHeaderError) {
    guard let equals = field.firstIndex(of: UInt8(ascii: "=")), equals > field.startIndex else {
      throw .malformed
    }
    let name = field[..<equals]
    guard let place = Self.nameBytes.firstIndex(where: { name.elementsEqual($0) }) else { return }
    guard values[place] == nil else { throw .repeated(Self.names[place]) }
    values[place] = field[(equals + 1)...]
  }

  private func value(_ place: Int) throws(SignedHeaderError) -> String {
    guard let value = values[place], !value.isEmpty else { throw .missing(Self.names[place]) }
    return String(decoding: value, as: UTF8.self)
  }

  func call(
    publicKey: ArraySlice<UInt8>, signature: ArraySlice<UInt8>, signedText: [UInt8]
  ) throws(SignedHeaderError) -> SignedCall {
    guard let requestor = RequestorID(try value(0)) else { throw .unreadable("requestor_id") }
    let nonce = try value(1)
    guard nonce.utf8.count <= 128 else { throw .unreadable("nonce") }
    guard let signatureMethod = SignatureMethod(rawValue: try value(2)) else {
      throw .unreadable("signature_method")
    }
    let time = try value(3)
    guard time.utf8.count <= 15, time.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let milliseconds = Int64(time)
    else { throw .unreadable("request_time") }
    guard let publicKey = PublicKey(String(decoding: publicKey, as: UTF8.self)) else {
      throw .unreadable("public_key")
    }
    guard let signature = Base64.bytes(strict: signature.span), !signature.isEmpty else {
      throw .unreadable("signature")
    }
    return SignedCall(
      method: String(decoding: method, as: UTF8.self), requestor: requestor, nonce: nonce,
      signatureMethod: signatureMethod, requestTime: Instant(milliseconds: milliseconds),
      requestURI: try value(4), publicKey: publicKey, signature: signature, signedText: signedText)
  }
}

extension ArraySlice<UInt8> {
  /// What stands before and after the first occurrence of a separator.
  fileprivate func cut(at separator: [UInt8]) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
    guard let first = separator.first else { return nil }
    var from = startIndex
    while let start = self[from...].firstIndex(of: first) {
      if self[start...].starts(with: separator) {
        return (self[..<start], self[(start + separator.count)...])
      }
      from = start + 1
    }
    return nil
  }
}
