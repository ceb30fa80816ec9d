/// How strictly a requestor's signed requests are checked.
///
/// Existing clients differ in what they sign.
public enum SignaturePolicy: String, Hashable, Sendable, CaseIterable {
  /// The signed method must be the request's method, the signed path its path or an end of it, and a nonce is accepted
  /// once.
  case standard
  /// Only the signature and its time are checked, for clients that send the same header several times.
  case compatible
  /// As `standard`, but the signature must use HMAC-SHA256 and cover the whole path.
  case strict

  public var remembersNonces: Bool { self != .compatible }
}

/// Why a signed request is refused.
///
/// This is for the log; the client gets the same response in all cases.
public enum SignatureRefusal: Error, Hashable, Sendable {
  /// The key of the signature belongs to another requestor.
  case wrongRequestor
  /// The signing time is more than 5 minutes before or after now.
  case outsideWindow
  /// The signed method is not the request's method.
  case otherMethod
  /// The signed path is not the request's path.
  case otherPath
  /// The signature uses HMAC-SHA1, but the policy requires HMAC-SHA256.
  case weakMethod
  /// The signature does not match the signed text.
  case wrongSignature
  /// The nonce of the request was already used.
  case replayed
  /// There is no room to remember the nonce.
  case tooMany
}

extension SignaturePolicy {
  /// How far the client's clock may be off from the service's: 5 minutes either way.
  public static let window: Duration = .seconds(300)

  /// Checks everything in a signed header that needs no secret, before the signature is computed or a nonce stored.
  ///
  /// - Parameters:
  ///   - call: the parsed header.
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

  /// Throws `outsideWindow` unless the signing time is within 5 minutes of now.
  public static func check(_ requestTime: Instant, at now: Instant) throws(SignatureRefusal) {
    let age = now.since(requestTime)
    guard age <= window, age >= .zero - window else { throw .outsideWindow }
  }

  /// As the other `check`, but reads the path in place and not from a copy.
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
  /// The range of the signed path, without its query, in the signed text.
  ///
  /// Some clients sign the query too.
  fileprivate var signedPath: Range<Int> {
    let bytes = signedText.span
    let uri = places.requestURI
    for place in uri where bytes[place] == UInt8(ascii: "?") { return uri.lowerBound..<place }
    return uri
  }

  /// Whether the signed path is the request's path, or an end of it that starts at a `/`.
  ///
  /// Clients sign only the part of the path after their service address, and may leave out `.json` or `.xml`.
  ///
  /// The comparison is byte by byte, without decoding or normalizing.
  fileprivate func signsEnd(of path: Span<UInt8>) -> Bool {
    let signed = signedPath
    guard signed.count > 1, signedText[signed.lowerBound] == UInt8(ascii: "/") else { return false }
    if signs(path, upTo: path.count, signed) { return true }
    for suffix in [".json", ".xml"] where path.ends(with: suffix) {
      return signs(path, upTo: path.count - suffix.utf8.count, signed)
    }
    return false
  }

  /// Whether the part of `path` before `end` ends with the bytes in `range` of the signed text.
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
