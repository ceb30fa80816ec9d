package import RegentCryptography
internal import RegentEncodings
package import RegentPairing

/// The DPoP nonces of one process (RFC 9449 §8).
///
/// A nonce shows that a proof is recent even if the client's clock is wrong.
///
/// The service does not store them: a nonce is an HMAC of the number of the five-minute period in which it was issued.
/// It is valid in that period and the next, that is for five to ten minutes. The periods are counted on the boot clock,
/// so that changes of the wall clock do not matter. After a restart all earlier nonces are invalid, and clients are
/// told the new one.
package struct DPoPNonces: Sendable {
  /// How long the service issues the same nonce.
  package static let period: Duration = .seconds(300)
  private let key: HMACKey

  /// - Parameter key: a random key of this process. It must not be stored, so that a restart invalidates earlier
  ///   nonces.
  package init(_ key: HMACKey) { self.key = key }

  /// The nonce that the service issues now.
  package func current(at now: Uptime) -> String { nonce(of: Self.number(now)) }

  /// Whether the service issued the nonce in this five-minute period or in the previous one.
  package func isValid(_ text: String, at now: Uptime) -> Bool {
    let number = Self.number(now)
    let given = Array(text.utf8)
    let isCurrent = constantTimeEqual(given, Array(nonce(of: number).utf8))
    let isEarlier = constantTimeEqual(given, Array(nonce(of: number - 1).utf8))
    return isCurrent || isEarlier
  }

  /// Checks that a DPoP proof is recent: by its nonce if it has one, and by its `iat` otherwise.
  ///
  /// - Throws: `use_dpop_nonce` if the nonce is not valid, or if there is none and `iat` is more than a minute from the
  ///   wall clock. The error is not `invalid_dpop_proof`, because a box without a correct clock can only recover by
  ///   using a nonce.
  package func check(_ proof: DPoPProof, wall: Instant, boot: Uptime) throws(OAuthError) {
    if let nonce = proof.nonce {
      guard isValid(nonce, at: boot) else { throw Self.useNonce }
      return
    }
    let age = wall.since(proof.made)
    guard age <= DPoPProof.window, age >= .zero - DPoPProof.window else { throw Self.useNonce }
  }

  package static let useNonce = OAuthError(
    .useDPoPNonce, "repeat the request with a proof that has the nonce of the DPoP-Nonce header")

  private static func number(_ now: Uptime) -> Int64 { now.milliseconds / period.wholeMilliseconds }

  private func nonce(of number: Int64) -> String {
    var fields = FramedFields(purpose: "dpop-nonce", version: 1)
    fields.append(number)
    return Base64URL.encode(Array(key.code(fields.bytes).prefix(18)))
  }
}
