// FuzzWire: what devices send and stream servers receive. What is read has one spelling only, so that nothing that was
// signed, used or remembered comes back with another face.

import FuzzSupport
import RegentPairing
import RegentPairingWire

/// One input: the first byte chooses the reader.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let first = input.first else { return 0 }
  let text = String(decoding: input.dropFirst(), as: UTF8.self)
  switch first {
  case UInt8(ascii: "H"): readHeader(text)
  case UInt8(ascii: "T"): readToken(text)
  case UInt8(ascii: "D"): readDevice(text)
  case UInt8(ascii: "C"): readCode(text)
  default: break
  }
  return 0
}

private func readHeader(_ text: String) {
  guard let call = try? SignedHeader.read(text) else { return }
  let again = SignedHeader.header(
    textToSign: String(decoding: call.signedText, as: UTF8.self), publicKey: call.publicKey,
    signature: call.signature)
  promise("a header has one spelling", again == text, again)
  promise("what is signed comes first", text.utf8.starts(with: call.signedText))
  promise("a nonce is short", (1...128).contains(call.nonce.utf8.count))
  let fields = plainFields(String(decoding: call.signedText, as: UTF8.self))
  promise(
    "the places are those of the fields",
    fields == [
      ["", call.method], ["nonce", call.nonce], ["request_uri", call.requestURI],
      ["requestor_id", call.requestor.text], ["signature_method", call.signatureMethod.rawValue],
    ], "\(fields)")
}

/// The method and the fields that are known, in order of their names, as a reader of plain texts finds them.
private func plainFields(_ signed: String) -> [[String]] {
  let method = signed.prefix { $0 != " " }
  let fields = signed.dropFirst(method.count + 1).split(separator: ",").map { field in
    field.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  }
  let known = ["nonce", "request_uri", "requestor_id", "signature_method"]
  return [["", String(method)]] + fields.filter { known.contains($0[0]) }.sorted { $0[0] < $1[0] }
}

private func readToken(_ text: String) {
  guard let token = try? ReceivedMediaToken(reading: text) else { return }
  promise("there is a signature", !token.signature.isEmpty)
  let known = MediaToken(
    sessionGUID: token.token.sessionGUID, requestor: token.token.requestor,
    resource: token.token.resource, lifetime: token.token.lifetime, issued: token.token.issued,
    provider: token.token.provider, proxiedProvider: token.token.proxiedProvider,
    keyID: token.token.keyID)
  do {
    let again = try ReceivedMediaToken(reading: known.serialized(signature: token.signature))
    promise("what was written is the same", again.token == token.token)
    promise("with the same signature", again.signature == token.signature)
  } catch {
    broken("what was written can be read", "\(error)")
  }
}

private func readDevice(_ text: String) {
  guard let device = DeviceInformation(reading: text) else { return }
  for (key, value) in device.completed(byUserAgent: text).values {
    promise("a value is a short line", !value.isEmpty && value.utf8.count <= 256, key.rawValue)
    promise(
      "no control characters", value.unicodeScalars.allSatisfy { $0.value >= 0x20 }, key.rawValue)
  }
}

private func readCode(_ text: String) {
  guard let code = try? RegistrationCode(typed: text) else { return }
  promise("the shown form is the same code", (try? RegistrationCode(typed: code.display)) == code)
  promise("the wire form is the same code", (try? RegistrationCode(typed: code.wire)) == code)
  promise("it has eight letters", code.wire.utf8.count == RegistrationCode.length)
}
