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
      guard call.signedPath.elementsEqual(path) else { throw .otherPath }
    }
  }
}

extension SignedCall {
  /// The signed path without the query that some clients sign along.
  fileprivate var signedPath: Substring.UTF8View {
    requestURI.utf8.prefix { $0 != UInt8(ascii: "?") }
  }

  /// Whether the signed path is the request's or an end of it that starts at a `/`: clients sign what they know below
  /// their service address, and leave the format's suffix out.
  ///
  /// Byte by byte: text that merely means the same is another path.
  fileprivate func signsEnd(of path: [UInt8]) -> Bool {
    let signed = signedPath
    guard signed.count > 1, signed.first == UInt8(ascii: "/") else { return false }
    return ["", ".json", ".xml"].contains { suffix in
      guard path.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else { return false }
      return path.dropLast(suffix.utf8.count).suffix(signed.count).elementsEqual(signed)
    }
  }
}
