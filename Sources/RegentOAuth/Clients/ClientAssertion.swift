package import RegentCryptography
internal import RegentJSON
package import RegentPairing

/// A client's own signed statement that it is this client (RFC 7523), good once and for a short time.
package struct ClientAssertion: Sendable {
  /// The longest that is read, in bytes.
  package static let longest = 8192
  /// A client that made one for a day would leave it lying about.
  package static let longestLife: Duration = .seconds(600)
  /// How far the clock of its maker may be from ours.
  package static let tolerance: Duration = .seconds(60)

  /// The client that it says it is from; not yet checked.
  package let client: ClientID
  private let token: UnverifiedJWS

  /// Reads who it says it is from, which key is to be asked.
  package init(_ text: String) throws(OAuthError) {
    guard let token = try? UnverifiedJWS(text, longest: Self.longest),
      let claims = token.unverifiedClaims, let subject = claims["sub"]?.string,
      let issuer = claims["iss"]?.string, subject.utf8.elementsEqual(issuer.utf8), let client = ClientID(subject)
    else { throw Self.refused }
    self.token = token
    self.client = client
  }

  /// What is remembered of it, so that it counts once.
  package struct Checked: Sendable, Hashable {
    /// A hash of client and id.
    package let fingerprint: [UInt8]
    package let expires: Instant
  }

  /// Checks signature, audience and time; `audiences` are the issuer and the token endpoint, as clients differ in which
  /// of them they mean.
  package func check(
    with keys: [JWK], audiences: [String], at now: Instant
  ) throws(OAuthError) -> Checked {
    guard let verified = try? token.verified(with: JWKSet(keys)), !verified.isType(DPoPProof.type),
      let claims = try? verified.claims(), let id = claims["jti"]?.string, !id.isEmpty,
      Self.audiences(claims["aud"]).contains(where: { said in audiences.contains { $0.utf8.elementsEqual(said.utf8) } }
      ),
      let expires = claims["exp"]?.int64.flatMap({ Instant(seconds: $0) }), now < expires + Self.tolerance,
      expires.since(now) <= Self.longestLife + Self.tolerance
    else { throw Self.refused }
    if let begins = claims["nbf"] {
      guard let instant = begins.int64.flatMap({ Instant(seconds: $0) }), instant <= now + Self.tolerance else {
        throw Self.refused
      }
    }
    var remembered = FramedFields(purpose: "client-assertion", version: 1)
    remembered.append(client.text)
    remembered.append(id)
    return Checked(fingerprint: SHA256.hash(remembered.bytes), expires: expires)
  }

  private static let refused = OAuthError(
    .invalidClient,
    "the assertion is not a JWT of this client: signed with its key, for this service, new, and good for ten minutes at most"
  )

  private static func audiences(_ value: JSONValue?) -> [String] {
    value?.string.map { [$0] } ?? value?.array?.compactMap(\.string) ?? []
  }
}
