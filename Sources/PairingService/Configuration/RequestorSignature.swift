internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPlatform
internal import RegentPairingWire

/// The older proof that a request comes from a requestor's app: the requestor's id, signed with the app author's
/// private key.
///
/// The service verifies the signature with the certificate that the operator stored. The signature proves only that the
/// author once had the key: every copy of the app sends the same text. A request therefore needs other credentials as
/// well.
struct RequestorSignature: Sendable {
  private let missing: MissingCertificates

  init(_ missing: MissingCertificates) { self.missing = missing }

  /// Throws when the request contains a signed requestor id and the signature is not valid.
  func check(_ call: V1Call) throws(CallError) {
    guard let given = try call.parameters.value(Field.signedRequestorID) else { return }
    let requestor = call.requestor.id
    guard let certificate = call.requestor.certificate else {
      missing.note(requestor)
      throw CallError(
        .forbidden,
        details: "\(Field.signedRequestorID) cannot be verified: the requestor has no certificate; "
          + "regentctl requestor set \(requestor) --certificate FILE")
    }
    guard given.utf8.count <= Self.longest, let signature = try? Base64.decodeLeniently(given),
      let key = try? VerifyingKey(pem: certificate), key.algorithm == .rs256
    else { throw Self.wrong }
    let id = Array(requestor.text.utf8)
    // Old apps signed with SHA-1. SHA-1 is accepted, because a collision attack needs a text that the attacker chooses,
    // and the signed text is fixed.
    guard key.isValid(signature, for: id) || key.isValidLegacySHA1(signature, for: id) else { throw Self.wrong }
  }

  /// The maximum length of the signed requestor id: a signature by an 8,192-bit RSA key in base64, with room for white
  /// space.
  private static let longest = 2048

  private static let wrong = CallError(
    .forbidden, details: "\(Field.signedRequestorID) is not the requestor's id signed with the key of its certificate")
}

/// Remembers requestors without a certificate whose apps send a signed requestor id, for `regentctl doctor`.
package final class MissingCertificates: Sendable {
  private let requestors = Locked<Set<RequestorID>>([])

  package init() {}

  func note(_ requestor: RequestorID) { requestors.withLock { _ = $0.insert(requestor) } }

  func contains(_ requestor: RequestorID) -> Bool { requestors.withLock { $0.contains(requestor) } }
}
