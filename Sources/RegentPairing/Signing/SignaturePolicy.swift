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

  /// The same, on the path where it lies.
  public func check(
    _ call: SignedCall, owner: RequestorID, method: String, path: Span<UInt8>, at now: Instant
  ) throws(SignatureRefusal) {
    guard call.requestor == owner else { throw .wrongRequestor }
    let age = now.since(call.requestTime)
    guard age <= Self.window, age >= .zero - Self.window else { throw .outsideWindow }
    switch self {
    case .compatible: return
    case .standard:
      guard call.method == method else { throw .otherMethod }
      guard call.signsEnd(of: path) else { throw .otherPath }
    case .strict:
      guard call.signatureMethod == .hmacSHA256 else { throw .weakMethod }
      guard call.method == method else { throw .otherMethod }
      guard path.ends(at: path.count, with: call.requestURI.utf8.span, first: call.signedLength),
        path.count == call.signedLength
      else { throw .otherPath }
    }
  }
}

extension SignedCall {
  /// How much of the signed path counts: some clients sign the query along.
  fileprivate var signedLength: Int {
    let bytes = requestURI.utf8.span
    for place in bytes.indices where bytes[place] == UInt8(ascii: "?") { return place }
    return bytes.count
  }

  /// Whether the signed path is the request's or an end of it that starts at a `/`: clients sign what they know below
  /// their service address, and leave the format's suffix out.
  ///
  /// Byte by byte: text that merely means the same is another path.
  fileprivate func signsEnd(of path: Span<UInt8>) -> Bool {
    let signed = requestURI.utf8.span
    let length = signedLength
    guard length > 1, signed[0] == UInt8(ascii: "/") else { return false }
    if path.ends(at: path.count, with: signed, first: length) { return true }
    for suffix in [".json", ".xml"] {
      let letters = suffix.utf8.span
      guard path.ends(at: path.count, with: letters, first: letters.count) else { continue }
      return path.ends(at: path.count - letters.count, with: signed, first: length)
    }
    return false
  }
}

extension Span<UInt8> {
  /// Whether what stands before `end` ends with the first bytes of `other`.
  fileprivate func ends(at end: Int, with other: Span<UInt8>, first length: Int) -> Bool {
    guard length <= end else { return false }
    for place in 0..<length where self[end - length + place] != other[place] { return false }
    return true
  }
}
