// FuzzTokens: no changed token verifies, and JWK sets that are read are written and read again unchanged. The seeds
// contain tokens that are valid for the keys below.

import RegentCryptography
import FuzzSupport
import RegentJSON

private let shared: HMACKey = {
  guard let key = try? HMACKey(.sha256, Secret("an HMAC key for the fuzzer, 32 bytes or more"))
  else { broken("the target's HMAC key can be used") }
  return key
}()
private let keys: JWKSet = {
  // RFC 7515 A.3 and RFC 8037 A.2.
  let document = """
    {"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
    {"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
    """
  guard let keys = try? JWKSet(reading: Array(document.utf8)), keys.keys.count == 2 else {
    broken("the target's JWK set can be read")
  }
  return keys
}()

/// The signed parts of the seeds' tokens; no other token may verify.
private let known: Set<String> = [
  "eyJhbGciOiJIUzI1NiJ9.e30",
  "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
    + "cnVlfQ",
  "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
]

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  let text = String(decoding: input, as: UTF8.self)
  if let token = try? UnverifiedJWS(text) {
    let isVerified =
      (try? token.verified(with: shared)) != nil || (try? token.verified(with: keys)) != nil
    let signed = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    promise(
      "only the known tokens verify", !isVerified || known.contains(signed.prefix(2).joined(separator: ".")),
      text)
  }
  if let set = try? JWKSet(reading: input) {
    promise("a written JWK set is read as the same set", (try? JWKSet(reading: set.json.bytes())) == set, text)
    for key in set.keys { promise("a thumbprint has 43 characters", key.key.thumbprint.utf8.count == 43) }
  }
  return 0
}
