// FuzzWire: what devices and stream servers receive. Everything that is read has exactly one spelling; otherwise an
// attacker could send a signed, used or remembered value again in another form.

import FuzzSupport
import RegentEncodings
import RegentJSON
import RegentPairing
import RegentPairingWire

/// Fuzzes one input: the first byte chooses the reader, the rest is what it reads.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let first = input.first else { return 0 }
  let text = String(decoding: input.dropFirst(), as: UTF8.self)
  switch first {
  case UInt8(ascii: "H"): readHeader(text)
  case UInt8(ascii: "S"): readByShape(text)
  case UInt8(ascii: "T"): readToken(text)
  case UInt8(ascii: "D"): readDevice(text)
  case UInt8(ascii: "C"): readCode(text)
  case UInt8(ascii: "P"): readRequest(text)
  case UInt8(ascii: "R"): readRequest(signedLook(text))
  case UInt8(ascii: "A"): readAssertion(text)
  case UInt8(ascii: "E"): readEnrolment(Array(input.dropFirst()))
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
  promise("a header begins with its signed text", text.utf8.starts(with: call.signedText))
  promise("a nonce is short", (1...128).contains(call.nonce.utf8.count))
  let fields = plainFields(String(decoding: call.signedText, as: UTF8.self))
  promise(
    "the fields equal those of the reference",
    fields == [
      ["", call.method], ["nonce", call.nonce], ["request_uri", call.requestURI],
      ["requestor_id", call.requestor.text], ["signature_method", call.signatureMethod.rawValue],
    ], "\(fields)")
}

/// Reads a header, and a second one by the shape of the first; if that succeeds, the full reader must agree.
///
/// The second header is given as a whole line, or as three lines with nonce, time and signature.
private func readByShape(_ text: String) {
  let lines = text.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false).map { Array($0.utf8) }
  guard let known = lines.first, lines.count == 2 || lines.count == 4, let next = nextHeader(known, lines.dropFirst())
  else { return }
  guard let first = try? SignedHeader.read(known.span),
    let news = SignedHeaderShape(first).read(next.span, like: known.span)
  else { return }
  do {
    let call = try SignedHeader.read(String(decoding: next, as: UTF8.self))
    promise(
      "the changed fields equal those of the full reader",
      next[news.signedText] == call.signedText[...]
        && next[news.nonce] == call.signedText[call.places.nonce] && news.requestTime == call.requestTime
        && news.signature == call.signature)
    promise(
      "the other fields equal those of the first header",
      call.requestor == first.requestor && call.publicKey == first.publicKey && call.method == first.method
        && call.requestURI == first.requestURI && call.signatureMethod == first.signatureMethod)
  } catch {
    broken("a header that was read by a shape can be read in full", "\(error)")
  }
}

private func nextHeader(_ known: [UInt8], _ lines: ArraySlice<[UInt8]>) -> [UInt8]? {
  guard lines.count == 3 else { return lines.first }
  guard let call = try? SignedHeader.read(known.span) else { return nil }
  var next = known
  let signature = known.count - Base64.encode(call.signature).utf8.count
  let places = [call.places.nonce, call.places.requestTime, signature..<known.count]
  for (place, value) in zip(places, lines).sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
    next.replaceSubrange(place, with: value)
  }
  return next
}

/// The method and the known fields, sorted by name, as a simple text reader finds them.
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
  promise("a token has a signature", !token.signature.isEmpty)
  let known = MediaToken(
    sessionGUID: token.token.sessionGUID, requestor: token.token.requestor,
    resource: token.token.resource, lifetime: token.token.lifetime, issued: token.token.issued,
    provider: token.token.provider, proxiedProvider: token.token.proxiedProvider,
    keyID: token.token.keyID)
  do {
    let again = try ReceivedMediaToken(reading: known.serialized(signature: token.signature))
    promise("a written token is read as the same token", again.token == token.token)
    promise("a written token is read with the same signature", again.signature == token.signature)
  } catch {
    broken("a written token can be read", "\(error)")
  }
}

private func readDevice(_ text: String) {
  guard let device = DeviceInformation(reading: text) else { return }
  for (key, value) in device.completed(byUserAgent: text).values {
    promise("a value is a short line", !value.isEmpty && value.utf8.count <= 256, key.rawValue)
    promise(
      "a value has no control characters", value.unicodeScalars.allSatisfy { $0.value >= 0x20 }, key.rawValue)
  }
}

private func readCode(_ text: String) {
  guard let code = try? RegistrationCode(typed: text) else { return }
  promise("the shown form is the same code", (try? RegistrationCode(typed: code.display)) == code)
  promise("the wire form is the same code", (try? RegistrationCode(typed: code.wire)) == code)
  promise("a code has eight letters", code.wire.utf8.count == RegistrationCode.length)
}

/// Encodes the claims as in a signed request, because the fuzzer does not find base64 by itself.
private func signedLook(_ claims: String) -> String { "e30.\(Base64URL.encode(Array(claims.utf8))).AA" }

private func readRequest(_ text: String) {
  guard let request = ProfileRequest(unverified: text) else { return }
  promise("a request is within the size limit", text.utf8.count <= ProfileRequest.longest)
  promise("the id of a request has at most 128 bytes", (1...128).contains(request.id.utf8.count), request.id)
  promise("a written request is read as the same request", ProfileRequest(request.claims) == request)
  // The JSON escapes of the new text may make it longer than the limit.
  let written = signedLook(String(decoding: request.claims.bytes(), as: UTF8.self))
  promise(
    "written claims are read as the same claims",
    written.utf8.count > ProfileRequest.longest || ProfileRequest(unverified: written) == request, written)
  promise("a request does not expire before it was issued", request.expires >= request.issued)
  let clock = Instant(milliseconds: Int64(text.utf8.count))
  let time = PlatformAssertion.issued(at: clock, for: request)
  promise("an assertion's time is the clock's or its request's", time == clock || time == request.issued)
}

private func readAssertion(_ text: String) {
  guard let claims = (try? JSONValue(reading: Array(text.utf8)))?.object, let word = PlatformAssertion(claims)
  else { return }
  promise("a written assertion is read as the same assertion", PlatformAssertion(word.claims) == word)
  let again = (try? JSONValue(reading: word.claims.bytes()))?.object
  promise("written claims are read as the same claims", again.flatMap { PlatformAssertion($0) } == word)
  promise("the name of an app is short", (1...64).contains(word.app.utf8.count), word.app)
  promise(
    "the name of an app has no special characters",
    word.app.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"<>&\"'/\\,;".utf8.contains($0) }
      && word.app.first != "." && word.app.first != "-", word.app)
  let now = Instant(milliseconds: Int64(text.utf8.count))
  if word.isFresh(at: now) {
    let age = now.since(word.issued)
    promise("a fresh assertion is at most a minute old", age <= .seconds(60) && age >= .seconds(-60), "\(word.issued)")
  }
}

private func readEnrolment(_ bytes: [UInt8]) {
  if let asked = EnrolmentRequest(bytes) {
    promise("a request is within the size limit", bytes.count <= EnrolmentRequest.longest)
    promise("a written request is read as the same request", EnrolmentRequest(asked.bytes) == asked)
    // All parts have a fixed length, so that a proof's input can be divided in only one way.
    promise("an id has four letters", asked.id.text.utf8.count == EnrolmentCode.idLength, asked.id.text)
    promise("hashes have 32 bytes", asked.box.count == 32 && asked.proof.count == 32)
  }
  if let answer = EnrolmentAnswer(bytes) {
    promise("a written answer is read as the same answer", EnrolmentAnswer(answer.bytes) == answer)
  }
  if let grant = EnrolmentGrant(bytes) {
    promise("a written grant is read as the same grant", EnrolmentGrant(grant.bytes) == grant)
  }
  if let code = EnrolmentCode(typed: String(decoding: bytes, as: UTF8.self)) {
    promise("the shown form is the same code", EnrolmentCode(typed: code.display) == code, code.display)
    promise("the letters of a code are the same code", EnrolmentCode(letters: code.id.text + code.secret) == code)
  }
}
