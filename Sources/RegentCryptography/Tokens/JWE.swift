internal import RegentEncodings

/// Encrypts JSON of any length for the holder of an RSA key.
///
/// The format is JWE compact serialization (RFC 7516), with RSA-OAEP-256 for the content key and A256GCM for the
/// content.
public enum JWE {
  private static let header = Base64URL.encode(Array(#"{"alg":"RSA-OAEP-256","enc":"A256GCM","cty":"json"}"#.utf8))

  public static func encrypt(json: [UInt8], for receiver: RSAEncryptionKey) throws(KeyError) -> String {
    let secret = Random.secret(32)
    let nonce = Random.bytes(12)
    let sealed = try receiver.encrypt(secret.exposedBytes(), .oaepSHA256)
    let cipher = GCM(secret, nonce: nonce, encrypts: true)
    cipher.authenticate(Array(header.utf8))
    let content = cipher.transform(json.span)
    let parts = [sealed, nonce, content, cipher.finishedTag()].map { Base64URL.encode($0) }
    return ([header] + parts).joined(separator: ".")
  }

  /// Decrypts the JSON of a message; nil if the key is another one, the format differs or the message was changed.
  public static func decrypt(_ message: String, with key: RSADecryptionKey) -> [UInt8]? {
    let parts = message.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == header, let sealed = bytes(parts[1]), let nonce = bytes(parts[2]),
      let content = bytes(parts[3]), let tag = bytes(parts[4]), nonce.count == 12, tag.count == 16,
      let secret = try? key.decrypt(sealed, .oaepSHA256), secret.count == 32
    else { return nil }
    let cipher = GCM(secret, nonce: nonce, encrypts: false)
    cipher.authenticate(Array(header.utf8))
    let clear = cipher.transform(content.span)
    return cipher.tagIsRight(tag) ? clear : nil
  }

  private static func bytes(_ part: Substring) -> [UInt8]? { try? Base64URL.decode(String(part)) }
}
