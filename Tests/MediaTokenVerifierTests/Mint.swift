import RegentEncodings
import RegentJSON
import RegentCryptography
import RegentPairing
import RegentPairingWire
import RegentPlatform

@testable import MediaTokenVerifier

/// Makes media tokens with one signing key.
///
/// The suites share an instance, because generating an RSA key is slow.
struct Mint: Sendable {
  static let shared = Mint()

  let key: SigningKey
  let now = Instant(milliseconds: 1_700_000_000_000)

  private init() {
    do {
      key = try SigningKey.generate(.rs256, rsaBits: 2048)
    } catch {
      preconditionFailure("no key: \(error)")
    }
  }

  var keySet: JWKSet { JWKSet([JWK(key.publicKey, keyID: "key-1")]) }

  func verifier() -> MediaTokenVerifier {
    MediaTokenVerifier(keys: .text(keySet.json.description))
  }

  func token(
    resource: String = "channel-1", lifetime: Duration = MediaToken.usualLifetime,
    signedBy other: SigningKey? = nil, keyID: String = "key-1"
  ) throws -> String {
    let token = made(resource, lifetime, keyID)
    return token.serialized(signature: try (other ?? key).sign(token.element))
  }

  /// A token that is valid at the system clock's time, or that a service issued whose clock is ahead.
  func freshToken(ahead: Int64 = 0) throws -> String {
    let token = MediaToken(
      sessionGUID: "guid-1", requestor: "SPORT", resource: "channel-1", lifetime: MediaToken.usualLifetime,
      issued: Instant(milliseconds: Clocks.wallMilliseconds() + ahead), provider: "CABLE", proxiedProvider: nil,
      keyID: "key-1")
    return token.serialized(signature: try key.sign(token.element))
  }

  func text() throws -> String {
    String(decoding: try Base64.decode(try token()), as: UTF8.self)
  }

  func made(
    _ resource: String = "channel-1", _ lifetime: Duration = MediaToken.usualLifetime,
    _ keyID: String = "key-1"
  ) -> MediaToken {
    MediaToken(
      sessionGUID: "guid-1", requestor: "SPORT", resource: resource, lifetime: lifetime,
      issued: now, provider: "CABLE", proxiedProvider: "SMALLCABLE", keyID: keyID)
  }
}

extension String {
  func replacingFirst(_ old: String, _ new: String) -> String {
    guard let range = firstRange(of: old) else { return self }
    return String(self[..<range.lowerBound]) + new + String(self[range.upperBound...])
  }
}
