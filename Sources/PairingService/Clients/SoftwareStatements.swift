internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
package import RegentPairing
package import PairingStore

/// Software statements: what a registered application carries inside and shows when one of its installations registers.
///
/// A statement is a JWT with RS256, signed with the key that signs media tokens at that time, so whoever gets one can
/// check it against the published key set. It lives until it is revoked, which is longer than any such key; therefore
/// it carries a `proof` as well, a MAC over its claims with key material of its own. The proof must always be right,
/// the signature whenever its key is still known: nobody can forge a statement with a signing key alone, and rotating
/// keys leaves no application outside.
package struct SoftwareStatements: Sendable {
  /// What a statement says.
  package struct Claims: Hashable, Sendable {
    package let application: StatementID
    package let requestor: RequestorID
  }

  private static let type = "software-statement+jwt"
  /// A statement has six short claims; whatever is longer is none.
  private static let longest = 8192
  private let keys: SigningKeys
  private let proofs: HMACKey
  private let issuer: String

  init(_ store: some KeyStore, keys: SigningKeys, issuer: String) async throws {
    self.keys = keys
    self.issuer = issuer
    proofs = try HMACKey(.sha256, Secret(try await store.keyMaterial(for: .statements)))
  }

  /// The statement of an application; with the same signing key the same text again.
  package func issue(for application: ApplicationRecord, at now: Instant) throws -> String {
    guard let (keyID, key) = keys.current(at: now) else { throw KeyError.inconsistent }
    var claims: JSONObject = [
      "iss": .string(issuer), "software_id": .string(application.id.text),
      "client_name": .string(application.name), "requestor": .string(application.requestor.text),
      "iat": .integer(application.issued.milliseconds / 1000),
    ]
    claims["proof"] = .string(Base64URL.encode(proofs.code(Self.proven(claims, keyID.text))))
    return try JWS.sign(claims.bytes(), with: key, keyID: keyID.text, type: Self.type)
  }

  /// What a statement says, if it is one of ours.
  ///
  /// Whether its application still counts is another question.
  package func read(_ text: String) -> Claims? {
    guard let statement = try? UnverifiedJWS(text, longest: Self.longest),
      statement.algorithm == SignatureAlgorithm.rs256.rawValue, let keyID = statement.keyID,
      // Also when its key is gone, and the proof alone speaks for it. Ours are for nobody but us, and do not say so.
      statement.isType(Self.type), let claims = Self.claims(text), claims["aud"] == nil,
      case .string(let proof) = claims["proof"], let code = try? Base64URL.decode(proof),
      proofs.isValid(code, for: Self.proven(claims, keyID))
    else { return nil }
    if let key = keys.publicKey(keyID) {
      guard (try? statement.verified(with: key)) != nil else { return nil }
    }
    guard case .string(let id) = claims["software_id"], let application = StatementID(id),
      case .string(let owner) = claims["requestor"], let requestor = RequestorID(owner)
    else { return nil }
    return Claims(application: application, requestor: requestor)
  }

  /// The claims as they stand there: they count for nothing before the proof is checked.
  private static func claims(_ text: String) -> JSONObject? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = try? Base64URL.decode(String(parts[1])),
      let value = try? JSONValue(reading: bytes, limits: JSONLimits(depth: 4, bytes: longest))
    else { return nil }
    return value.object
  }

  private static func proven(_ claims: JSONObject, _ keyID: String) -> [UInt8] {
    var fields = FramedFields(purpose: "software-statement", version: 1)
    fields.append(keyID)
    for name in ["iss", "software_id", "client_name", "requestor"] {
      fields.append(claims[name]?.string)
    }
    fields.append(claims["iat"]?.int64)
    return fields.bytes
  }
}
