// FuzzPEM: blocks that are read are written and read again as the same, and keys in them reach OpenSSL without harm.

import RegentCryptography
import FuzzSupport

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: unsafe bytes(start, count), as: UTF8.self)
  if let blocks = try? PEM.decode(text) {
    let written = blocks.map { PEM.encode($0.label, $0.bytes) }.joined()
    promise("what was written is the same", (try? PEM.decode(written)) == blocks, written)
  }
  if let key = try? VerifyingKey(pem: text) {
    promise("a key survives", (try? VerifyingKey(pem: key.pem())) == key)
    promise(
      "a key survives as JWK", (try? JWK(reading: JWK(key, keyID: nil).json).key) == key, key.pem())
  }
  if let key = try? SigningKey(pem: Secret(text)) {
    let back = try? SigningKey(pem: key.pem())
    promise("a private key survives", back?.publicKey == key.publicKey)
  }
  return 0
}
