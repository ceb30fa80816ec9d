package import PairingStore
internal import RegentCryptography
internal import RegentEncodings
internal import RegentOAuth
package import RegentPairing

/// The texts of refresh tokens: which grant, which use of it, and a code over both that only the service can make.
///
/// Nothing of them is stored. The grant's row says which use is the latest, and what older ones mean.
package struct RefreshTokens: Sendable {
  private static let codeLength = 32
  private let key: HMACKey

  package init(_ store: some KeyStore) async throws {
    key = try HMACKey(.sha256, Secret(try await store.keyMaterial(for: .refreshTokens)))
  }

  /// The key of the nonces that all nodes take: of the store's key material, as the nodes have nothing else in common.
  func nonces() throws -> SharedNonces {
    let material = key.code(FramedFields(purpose: "dpop-nonce-key", version: 1).bytes)
    return SharedNonces(try HMACKey(.sha256, Secret(copying: material)))
  }

  package func text(of grant: GrantID, generation: Int64) -> String {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: generation >> (56 - 8 * Int64($0))) }
    return Base64URL.encode(number + key.code(message(grant, generation)) + Array(grant.text.utf8))
  }

  /// The grant and the use that a text is for; nil when the service did not make it.
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
