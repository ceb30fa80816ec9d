// FuzzPEM: blocks that are read are written and read again unchanged, and OpenSSL survives any key in them.

import RegentCryptography
import FuzzSupport

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: unsafe bytes(start, count), as: UTF8.self)
  if let blocks = try? PEM.decode(text) {
    let written = blocks.map { PEM.encode($0.label, $0.bytes) }.joined()
    promise("written blocks are read as the same blocks", (try? PEM.decode(written)) == blocks, written)
  }
  if let key = try? VerifyingKey(pem: text) {
    promise("a written key is read as the same key", (try? VerifyingKey(pem: key.pem())) == key)
    promise(
      "a key written as JWK is read as the same key", (try? JWK(reading: JWK(key, keyID: nil).json).key) == key,
      key.pem())
  }
  if let key = try? SigningKey(pem: Secret(text)) {
    let back = try? SigningKey(pem: key.pem())
    promise("a written private key is read as the same key", back?.publicKey == key.publicKey)
  }
  return 0
}
