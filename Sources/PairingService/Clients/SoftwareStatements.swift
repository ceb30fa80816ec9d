internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
package import RegentPairing
package import PairingStore

/// Issues and verifies software statements: a text that each copy of a registered application contains, and with which
/// its installations register.
///
/// A statement is a JWT with RS256, signed with the key that signs media tokens at the time it is issued, so that it
/// can be verified with the published key set. It is valid until it is revoked, which is longer than any signing key
/// exists. Therefore it also contains a `proof`, a MAC over its claims with a separate key. The proof must always be
/// valid, and the signature as long as its key is known. A stolen signing key alone is not enough to forge a statement,
/// and key rotation invalidates none.
package struct SoftwareStatements: Sendable {
  package struct Claims: Hashable, Sendable {
    package let application: StatementID
    package let requestor: RequestorID
  }

  private static let type = "software-statement+jwt"
  /// The maximum length of a statement.
  ///
  /// A statement has six short claims; a longer text cannot be one.
  private static let longest = 8192
  private let keys: SigningKeys
  private let proofs: HMACKey
  private let issuer: String

  init(_ store: some KeyStore, keys: SigningKeys, issuer: String) async throws {
    self.keys = keys
    self.issuer = issuer
    proofs = try HMACKey(.sha256, Secret(try await store.keyMaterial(for: .statements)))
  }

  /// Signs the software statement of an application.
  ///
  /// With the same signing key, the text is the same each time.
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

  /// Verifies a software statement of this service and returns its claims; nil when it is not valid.
  ///
  /// The caller must check that the application is not revoked.
  package func read(_ text: String) -> Claims? {
    guard let statement = try? UnverifiedJWS(text, longest: Self.longest),
      statement.algorithm == SignatureAlgorithm.rs256.rawValue, let keyID = statement.keyID,
      // The type is checked here too, because the signature is not checked when its key no longer exists. Statements of
      // this service have no audience.
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

  /// Reads the claims of a statement without verifying them.
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
