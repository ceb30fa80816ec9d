package import RegentCryptography
internal import RegentJSON
package import RegentPairing

/// A JWT with which a client authenticates itself (RFC 7523).
///
/// Each assertion is accepted once, and only for a short time.
package struct ClientAssertion: Sendable {
  /// The longest client assertion that is parsed, in bytes.
  package static let longest = 8192
  /// How long after its `iat` an assertion may be used, even if `exp` is later: some libraries issue assertions for an
  /// hour.
  package static let longestUse: Duration = .seconds(600)
  /// How far in the future `exp` may be in an assertion without `iat`.
  package static let longestLife: Duration = .seconds(3600)
  /// The tolerated clock skew between client and service.
  package static let tolerance: Duration = .seconds(60)

  /// The client that the assertion names.
  ///
  /// Not verified until ``check(with:audiences:at:)`` succeeds.
  package let client: ClientID
  private let token: UnverifiedJWS

  /// Parses an assertion, so that the caller can look up the keys of ``client``.
  package init(_ text: String) throws(OAuthError) {
    // A missing `typ` is accepted. Another `typ` is refused, because the client's key may have signed an access token
    // or a DPoP proof, and those must not pass as assertions (RFC 8725 §3.11).
    guard let token = try? UnverifiedJWS(text, longest: Self.longest),
      !token.hasType || Self.types.contains(where: token.isType),
      let claims = token.unverifiedClaims, let subject = claims["sub"]?.string,
      let issuer = claims["iss"]?.string, subject.utf8.elementsEqual(issuer.utf8), let client = ClientID(subject)
    else { throw Self.refused }
    self.token = token
    self.client = client
  }

  /// What the service stores about an accepted assertion to detect a replay.
  package struct Checked: Sendable, Hashable {
    /// A hash of the client id and the assertion's id `jti`.
    package let fingerprint: [UInt8]
    /// The end of the assertion's validity: its `exp`, but at most ten minutes after its `iat`.
    package let expires: Instant
    /// The time at which the client made the assertion (`iat`), which is optional.
    package let made: Instant?
  }

  /// Verifies the signature, the audience and the times of the assertion.
  ///
  /// `audiences` are the issuer and the addresses of its endpoints, because clients differ in which of them they name.
  /// An assertion must have exactly one audience. If it also named another service, that service could use it to
  /// authenticate here as the client (draft-ietf-oauth-rfc7523bis §3).
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

  /// The time at which an assertion expires, or `nil` if `exp` is missing or a claim is not a time.
  ///
  /// If there is an `iat`, the end is at most ten minutes after it. The caller refuses an end that is too far in the
  /// future, so that an `iat` in the future does not make the assertion valid for longer.
  private static func end(of claims: JSONObject) -> Instant? {
    guard let expires = claims["exp"]?.numericDate else { return nil }
    guard let issued = claims["iat"] else { return expires }
    return issued.numericDate.map { min(expires, $0 + longestUse) }
  }

  /// Verifies the signature of the assertion.
  ///
  /// If the client has no key with this `kid` and algorithm, a stand-in key is used. Otherwise the time of a refusal
  /// would reveal which clients exist or which keys they have.
  private func verified(with keys: [JWK]) -> VerifiedJWS? {
    do throws(JWSError) {
      return try token.verified(with: JWKSet(keys))
    } catch {
      if case .unknownKey = error, let algorithm = SignatureAlgorithm(rawValue: token.algorithm),
        let key = DecoyKeys.key(algorithm)
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

  /// The only audience of the assertion.
  ///
  /// Some libraries write it as an array with one element.
  private static func audience(_ value: JSONValue?) -> String? {
    if let text = value?.string { return text }
    guard let list = value?.array, list.count == 1 else { return nil }
    return list[0].string
  }
}
