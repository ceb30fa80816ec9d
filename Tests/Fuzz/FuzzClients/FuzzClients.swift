// FuzzClients: what OAuth clients send: client metadata, assertions, DPoP proofs and scopes. The target signs the
// claims of assertions and proofs, because the fuzzer cannot find a signature; each accepted one must satisfy a simple
// check.

import FuzzSupport
import RegentCryptography
import RegentJSON
import RegentOAuth
import RegentPairing

private let key: SigningKey = {
  guard let key = try? SigningKey.generate(.edDSA) else { broken("a key can be made") }
  return key
}()
private let jwk = JWK(key.publicKey, keyID: nil)
private let now = Instant(milliseconds: 1_700_000_000_000)
private let issuer = "https://tv.example"
private let request: DPoPProof.Request = {
  guard let target = ProofTarget("\(issuer)/o/token") else { broken("the target's address can be read") }
  return DPoPProof.Request(method: "POST", target: target)
}()

/// Fuzzes one input: the first byte chooses the reader, the rest is what it reads.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let first = input.first else { return 0 }
  let rest = Array(input.dropFirst())
  let text = String(decoding: rest, as: UTF8.self)
  switch first {
  case UInt8(ascii: "M"): readMetadata(rest)
  case UInt8(ascii: "A"): readAssertion(signed(rest, type: nil), rest)
  case UInt8(ascii: "P"): readProof((try? JWS.signEmbeddingKey(rest, with: key, type: DPoPProof.type)) ?? "", rest)
  case UInt8(ascii: "S"): readScope(text)
  // A whole token, whose header the fuzzer changes too.
  case UInt8(ascii: "T"):
    promise("an assertion without a valid signature is refused", (try? assertion(text)) == nil, text)
    promise("a proof without a valid signature is refused", (try? DPoPProof(text, for: request)) == nil, text)
  default: break
  }
  return 0
}

private func signed(_ claims: [UInt8], type: String?) -> String {
  (try? JWS.sign(claims, with: key, keyID: nil, type: type)) ?? ""
}

private func assertion(_ text: String) throws -> (ClientAssertion, ClientAssertion.Checked) {
  let assertion = try ClientAssertion(text)
  return (assertion, try assertion.check(with: [jwk], audiences: [issuer], at: now))
}

private func readAssertion(_ text: String, _ claims: [UInt8]) {
  guard let (assertion, checked) = try? assertion(text) else { return }
  let said = String(decoding: claims, as: UTF8.self)
  guard let object = (try? JSONValue(reading: claims))?.object else { broken("accepted claims are an object", said) }
  promise("the client is the subject", object["sub"]?.string == assertion.client.text, said)
  promise("the client is the issuer", object["iss"]?.string == assertion.client.text, said)
  promise("an assertion has an id", object["jti"]?.string?.isEmpty == false, said)
  let audience = object["aud"]?.string.map { [$0] } ?? object["aud"]?.array?.compactMap(\.string)
  promise("the only audience is this service", audience == [issuer], said)
  promise("an assertion has not expired", checked.expires + ClientAssertion.tolerance > now, said)
  promise(
    "an assertion expires within an hour",
    checked.expires.since(now) <= ClientAssertion.longestLife + ClientAssertion.tolerance, said)
  if let made = checked.made {
    promise("an assertion is used for ten minutes at most", checked.expires.since(made) <= ClientAssertion.longestUse)
  }
  promise("a fingerprint has 32 bytes", checked.fingerprint.count == 32)
  promise(
    "a second reading has the same result", (try? assertion.check(with: [jwk], audiences: [issuer], at: now)) == checked
  )
  promise("an assertion is no proof", (try? DPoPProof(text, for: request)) == nil, said)
}

private func readProof(_ text: String, _ claims: [UInt8]) {
  guard let proof = try? DPoPProof(text, for: request) else { return }
  let said = String(decoding: claims, as: UTF8.self)
  guard let object = (try? JSONValue(reading: claims))?.object else { broken("accepted claims are an object", said) }
  promise("a proof is for this method", object["htm"]?.string == "POST", said)
  let address = object["htu"]?.string ?? ""
  promise("a proof is for this address", ProofTarget(address) == request.target, said)
  promise("the normalized address is normal", ProofTarget(request.target.text) == request.target, said)
  promise("a proof has an id", object["jti"]?.string?.isEmpty == false, said)
  promise("a proof repeats its nonce", object["nonce"].map { $0.string == proof.nonce } ?? (proof.nonce == nil), said)
  promise("a proof has the thumbprint of its key", proof.thumbprint == key.publicKey.thumbprint)
  promise("a fingerprint has 32 bytes", proof.fingerprint.count == 32)
  promise("a proof is no assertion", (try? ClientAssertion(text)) == nil, said)
}

private func readMetadata(_ bytes: [UInt8]) {
  guard let object = (try? JSONValue(reading: bytes))?.object, let client = try? ClientMetadata(reading: object) else {
    return
  }
  let said = String(decoding: bytes, as: UTF8.self)
  promise("a registered client has a scope", !client.scope.isEmpty, said)
  promise("a name is short", client.name.map { (1...128).contains($0.utf8.count) } != false, said)
  promise("the number of addresses is limited", client.redirectURIs.count <= ClientMetadata.mostRedirectURIs, said)
  promise(
    "an address is visible ASCII without a fragment",
    client.redirectURIs.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x23 } }, said)
  promise("only clients that sign have keys", client.keys.isEmpty == (client.method != .privateKey), said)
  promise("the stored metadata is read as the same", (try? ClientMetadata(reading: client.json)) == client, said)
}

private func readScope(_ text: String) {
  guard let scope = try? Scope(text) else { return }
  promise("a written scope is read as the same scope", (try? Scope(scope.text)) == scope, text)
  let words = Set(text.split(separator: " ").map(String.init))
  promise(
    "a scope has the known words of its text",
    Set(scope.names.map(\.rawValue)) == words.intersection(Scope.Name.allCases.map(\.rawValue)), text)
  promise(
    "unknown words are the others",
    words.subtracting(scope.names.map(\.rawValue)) == Set(Scope.unknown(in: text).map(String.init)), text)
}
