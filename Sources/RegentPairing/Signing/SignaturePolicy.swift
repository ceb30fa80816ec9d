/// How strictly a requestor's signed calls are checked, because public clients differ.
public enum SignaturePolicy: String, Hashable, Sendable, CaseIterable {
  /// The request's own method, its path or the end of it, each nonce once.
  case standard
  /// Signature and clock only: for clients that use one header again and again.
  case compatible
  /// `standard`, with HMAC-SHA256 and the whole path.
  case strict

  /// Whether a nonce may be used once only.
  public var remembersNonces: Bool { self != .compatible }
}

/// Why a signed call is not accepted: for the log; the caller gets one and the same answer for all of them.
public enum SignatureRefusal: Error, Hashable, Sendable {
  /// The key is not the requestor's.
  case wrongRequestor
  /// Signed too long ago, or in the future.
  case outsideWindow
  /// The method word is not the request's.
  case otherMethod
  /// The path is not the request's.
  case otherPath
  /// The policy wants HMAC-SHA256.
  case weakMethod
  /// The signature is not that of the text.
  case wrongSignature
  /// The nonce has been used.
  case replayed
  /// There is no room to remember its nonce.
  case tooMany
}

extension SignaturePolicy {
  /// How far the caller's clock may be off: 5 minutes either way.
  public static let window: Duration = .seconds(300)

  /// Everything about a header that can be judged without a secret, before anything is computed or remembered.
  ///
  /// - Parameters:
  ///   - call: the header.
  ///   - owner: the requestor to whom the key belongs.
  ///   - method: the request's method.
  ///   - path: the request's path as received, without its query.
  ///   - now: the service's clock.
  /// - Throws: the reason, for the log.
  public func check(
    _ call: SignedCall, owner: RequestorID, method: String, path: [UInt8], at now: Instant
  ) throws(SignatureRefusal) {
    try check(call, owner: owner, method: method, path: path.span, at: now)
  }

  /// Whether a caller signed about now.
  public static func check(_ requestTime: Instant, at now: Instant) throws(SignatureRefusal) {
    let age = now.since(requestTime)
    guard age <= window, age >= .zero - window else { throw .outsideWindow }
  }

  /// The same, on the path where it lies.
  public func check(
    _ call: SignedCall, owner: RequestorID, method: String, path: Span<UInt8>, at now: Instant
  ) throws(SignatureRefusal) {
    guard call.requestor == owner else { throw .wrongRequestor }
    try Self.check(call.requestTime, at: now)
    switch self {
    case .compatible: return
    case .standard:
      guard call.spellsMethod(method) else { throw .otherMethod }
      guard call.signsEnd(of: path) else { throw .otherPath }
    case .strict:
      guard call.signatureMethod == .hmacSHA256 else { throw .weakMethod }
      guard call.spellsMethod(method) else { throw .otherMethod }
      let signed = call.signedPath
      guard path.count == signed.count, call.signs(path, upTo: path.count, signed) else { throw .otherPath }
    }
  }
}

extension SignedCall {
  /// Where the part of the signed path stands that counts: some clients sign the query along.
  fileprivate var signedPath: Range<Int> {
    let bytes = signedText.span
    let uri = places.requestURI
    for place in uri where bytes[place] == UInt8(ascii: "?") { return uri.lowerBound..<place }
    return uri
  }

  /// Whether the signed path is the request's or an end of it that starts at a `/`: clients sign what they know below
  /// their service address, and leave the format's suffix out.
  ///
  /// Byte by byte: text that merely means the same is another path.
  fileprivate func signsEnd(of path: Span<UInt8>) -> Bool {
    let signed = signedPath
    guard signed.count > 1, signedText[signed.lowerBound] == UInt8(ascii: "/") else { return false }
    if signs(path, upTo: path.count, signed) { return true }
    for suffix in [".json", ".xml"] where path.ends(with: suffix) {
      return signs(path, upTo: path.count - suffix.utf8.count, signed)
    }
    return false
  }

  /// Whether what stands in a path before `end` ends with a range of the signed text.
  fileprivate func signs(_ path: Span<UInt8>, upTo end: Int, _ range: Range<Int>) -> Bool {
    guard range.count <= end else { return false }
    let bytes = signedText.span
    let shift = end - range.upperBound
    for place in range where bytes[place] != path[place + shift] { return false }
    return true
  }

  fileprivate func spellsMethod(_ method: String) -> Bool {
    method.utf8.count == places.method.count && signedText.span.extracting(places.method).ends(with: method)
  }
}

extension Span<UInt8> {
  fileprivate func ends(with text: String) -> Bool {
    let letters = text.utf8.span
    guard letters.count <= count else { return false }
    for place in letters.indices where letters[place] != self[count - letters.count + place] { return false }
    return true
  }
}
