package import RegentCryptography
internal import RegentJSON
package import RegentPairing

/// A client's own signed statement that it is this client (RFC 7523), accepted once and for a short time.
package struct ClientAssertion: Sendable {
  /// The longest that is read, in bytes.
  package static let longest = 8192
  /// How long after `iat` an assertion is accepted, whatever its `exp`: libraries make them for an hour.
  package static let longestUse: Duration = .seconds(600)
  /// The latest `exp` of an assertion without `iat`.
  package static let longestLife: Duration = .seconds(3600)
  /// How far the clock of its maker may be from ours.
  package static let tolerance: Duration = .seconds(60)

  /// The client that it says it is from; not yet checked.
  package let client: ClientID
  private let token: UnverifiedJWS

  /// Reads who it says it is from, which key is to be asked.
  package init(_ text: String) throws(OAuthError) {
    // Of no kind, or of the right one: a token or a proof that the client's key signed for something else is no
    // assertion (RFC 8725 §3.11).
    guard let token = try? UnverifiedJWS(text, longest: Self.longest),
      !token.hasType || Self.types.contains(where: token.isType),
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
    /// When it is accepted no more: its `exp`, at most ten minutes after its `iat`.
    package let expires: Instant
    /// When it says it was made; clients need not say it.
    package let made: Instant?
  }

  /// Checks signature, audience and time; `audiences` are the issuer and its endpoints, as clients differ in which of
  /// them they mean.
  ///
  /// It is for one of them and for nobody beside: with what is for another service as well, that one would sign in here
  /// (draft-ietf-oauth-rfc7523bis §3).
  package func check(
    with keys: [JWK], audiences: [String], at now: Instant
  ) throws(OAuthError) -> Checked {
    guard let verified = verified(with: keys), let claims = try? verified.claims(),
      let id = claims["jti"]?.string, !id.isEmpty, let audience = Self.audience(claims["aud"]),
      audiences.contains(where: { $0.utf8.elementsEqual(audience.utf8) }),
      let expires = Self.end(of: claims), now < expires + Self.tolerance,
      expires.since(now) <= (claims["iat"] == nil ? Self.longestLife : Self.longestUse) + Self.tolerance
    else { throw Self.refused }
    if let begins = claims["nbf"] {
      guard let instant = begins.numericDate, instant <= now + Self.tolerance else {
        throw Self.refused
      }
    }
    var remembered = FramedFields(purpose: "client-assertion", version: 1)
    remembered.append(client.text)
    remembered.append(id)
    return Checked(fingerprint: SHA256.hash(remembered.bytes), expires: expires, made: claims["iat"]?.numericDate)
  }

  /// When an assertion is accepted no more; `nil` when a time is missing or no time.
  ///
  /// One that says when it was made counts ten minutes from then, and one from the future not at all: it would count
  /// for longer.
  private static func end(of claims: JSONObject) -> Instant? {
    guard let expires = claims["exp"]?.numericDate else { return nil }
    guard let issued = claims["iat"] else { return expires }
    return issued.numericDate.map { min(expires, $0 + longestUse) }
  }

  /// Without a key of the text's id and kind another one is tried, which is nobody's: how long a refusal takes does not
  /// say which clients there are, nor which keys they have.
  private func verified(with keys: [JWK]) -> VerifiedJWS? {
    do throws(JWSError) {
      return try token.verified(with: JWKSet(keys))
    } catch {
      if case .unknownKey = error, let algorithm = SignatureAlgorithm(rawValue: token.algorithm),
        let key = StandInKeys.key(algorithm)
      {
        _ = try? token.verified(with: key)
      }
      return nil
    }
  }

  package static let refused = OAuthError(
    .invalidClient,
    "the assertion is not a JWT of this client: signed with its key, for this service, made in the last ten minutes (iat), not over (exp), and with an id of its own (jti)"
  )

  private static let types = ["JWT", "client-authentication+jwt"]

  /// The one that it is for; a list of one is how some libraries write it.
  private static func audience(_ value: JSONValue?) -> String? {
    if let text = value?.string { return text }
    guard let list = value?.array, list.count == 1 else { return nil }
    return list[0].string
  }
}
