package import PairingStore
internal import RegentCryptography
internal import RegentEncodings
internal import RegentOAuth
package import RegentPairing

/// Makes and reads refresh tokens.
///
/// A token contains the grant, the number of its use, and an HMAC over both. Tokens are not stored. The grant's row
/// contains the number of the latest use, which decides what older tokens mean.
package struct RefreshTokens: Sendable {
  private static let codeLength = 32
  private let key: HMACKey

  package init(_ store: some KeyStore) async throws {
    key = try HMACKey(.sha256, Secret(try await store.keyMaterial(for: .refreshTokens)))
  }

  /// Makes and checks DPoP nonces that all nodes accept.
  ///
  /// Their key is derived from the key material in the store, which is all that the nodes have in common.
  func nonces() throws -> SharedNonces {
    let material = key.code(FramedFields(purpose: "dpop-nonce-key", version: 1).bytes)
    return SharedNonces(try HMACKey(.sha256, Secret(copying: material)))
  }

  package func text(of grant: GrantID, generation: Int64) -> String {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: generation >> (56 - 8 * Int64($0))) }
    return Base64URL.encode(number + key.code(message(grant, generation)) + Array(grant.text.utf8))
  }

  /// Reads the grant and the use number from a refresh token; nil when this service did not make it.
  package func read(_ text: String) -> (grant: GrantID, generation: Int64)? {
    guard text.utf8.count <= 256, let bytes = try? Base64URL.decode(text), bytes.count > 8 + Self.codeLength
    else { return nil }
    let generation = bytes[..<8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let name = bytes[(8 + Self.codeLength)...]
    guard name.allSatisfy({ $0 < 0x80 }), let grant = GrantID(String(decoding: name, as: UTF8.self)),
      constantTimeEqual(Array(bytes[8..<(8 + Self.codeLength)]), key.code(message(grant, generation)))
    else { return nil }
    return (grant, generation)
  }

  private func message(_ grant: GrantID, _ generation: Int64) -> [UInt8] {
    var fields = FramedFields(purpose: "refresh-token", version: 1)
    fields.append(grant.text)
    fields.append(generation)
    return fields.bytes
  }
}
