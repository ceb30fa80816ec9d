package import RegentCryptography
internal import RegentEncodings
package import RegentPairing

/// The service's nonces (RFC 9449 §8): they say that a proof is new where the clock of its maker cannot.
///
/// Nothing is kept of them: a nonce is the period it was made in, and a code over that which nobody else can make. It
/// counts in its period and the next, on the service's boot clock, so that it is good for five to ten minutes whatever
/// happens to the wall clock; after a restart of the machine every nonce is an old one, and the client is told the new
/// one.
package struct DPoPNonces: Sendable {
  /// How long a nonce is given out.
  package static let period: Duration = .seconds(300)
  private let key: HMACKey

  /// - Parameter key: key material of this process: not of the database, so that a restart makes new nonces.
  package init(_ key: HMACKey) { self.key = key }

  /// The nonce to give out now.
  package func current(at now: Uptime) -> String { nonce(of: Self.number(now)) }

  /// Whether a nonce was given out in this period or in the one before.
  package func isValid(_ text: String, at now: Uptime) -> Bool {
    let number = Self.number(now)
    let given = Array(text.utf8)
    let isCurrent = constantTimeEqual(given, Array(nonce(of: number).utf8))
    let isEarlier = constantTimeEqual(given, Array(nonce(of: number - 1).utf8))
    return isCurrent || isEarlier
  }

  /// Whether a proof is new enough: by its nonce, or else by its time.
  ///
  /// - Throws: `use_dpop_nonce` when it has none that counts and its time is not ours. Not `invalid_dpop_proof`: a box
  ///   that has no clock learns only by being told to use a nonce.
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
