import RegentEncodings
import RegentPairing
import TestSupport
import Testing

@testable import RegentPairingWire

@Suite struct `Mangled input` {
  /// Changes, removes, doubles or moves a few bytes of a text.
  private func mangled(_ text: String, _ generator: inout SeededGenerator) -> String {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      let end = min(bytes.count, place + Int.random(in: 1...12, using: &generator))
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
      default:
        bytes.insert(
          contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &generator))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a mangled signed header that is still accepted is written back as it was received`() throws {
    var generator = SeededGenerator(state: 11)
    let header =
      "GET requestor_id=REF30, nonce=6f1c9c3e, signature_method=HMAC-SHA1, request_time=1700000000000, "
      + "request_uri=/regcode, public_key=K, signature=cIQcUBa4DJSVCMD0cHgs9n2YYu8="
    var read = 0
    for _ in 0..<20_000 {
      let text = mangled(header, &generator)
      guard let call = try? SignedHeader.read(text) else { continue }
      read += 1
      let signed = String(decoding: call.signedText, as: UTF8.self)
      let again = SignedHeader.header(
        textToSign: signed, publicKey: call.publicKey, signature: call.signature)
      #expect(again == text)
    }
    #expect(read > 1000)
  }

  @Test(arguments: [
    "GET requestor_id=REF30, nonce=6f1c9c3e, signature_method=HMAC-SHA1, request_time=1700000000000, "
      + "request_uri=/regcode, public_key=K, signature=cIQcUBa4DJSVCMD0cHgs9n2YYu8=",
    "GET request_uri=/a?b=c=d,request_time=5, version=1.0, nonce=n, signature_method=HMAC-SHA256, requestor_id=R,"
      + ", public_key=example, signature=AAAA",
  ])
  func `the fast reader of signed headers reads a header as the full reader does, or rejects it`(known: String) throws {
    var generator = SeededGenerator(state: 17)
    let shape = SignedHeaderShape(try SignedHeader.read(known))
    let bytes = Array(known.utf8)
    let changing = ["nonce=", "request_time=", "signature="]
    var (read, byItself) = (0, 0)
    for number in 0..<20_000 {
      var text = known
      // Most texts are what the box would send next; every third one is mangled.
      for name in changing {
        guard let start = text.firstRange(of: name)?.upperBound else { continue }
        let end = text[start...].firstIndex(of: ",") ?? text.endIndex
        let letters = "0123456789AZaz=+/-, p"
        let value = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
          letters.prefix(name == "nonce=" ? 21 : 10).randomElement(using: &generator) ?? "0"
        }
        let isSignature = name == "signature="
        text.replaceSubrange(
          start..<end, with: isSignature ? Base64.encode(value.compactMap(\.asciiValue)) : String(value))
      }
      if number.isMultiple(of: 3) { text = mangled(text, &generator) }
      let given = Array(text.utf8)
      guard let call = try? SignedHeader.read(text) else {
        #expect(shape.read(given.span, like: bytes.span) == nil, "\(text)")
        continue
      }
      byItself += 1
      guard let news = shape.read(given.span, like: bytes.span) else { continue }
      read += 1
      #expect(
        given[news.signedText] == call.signedText[...] && given[news.nonce] == call.signedText[call.places.nonce]
          && news.requestTime == call.requestTime && news.signature == call.signature, "\(text)")
      #expect(
        call.requestor == shape.requestor && call.publicKey == shape.publicKey
          && call.signatureMethod == shape.signatureMethod, "\(text)")
      let before = try SignedHeader.read(known)
      #expect(call.method == before.method && call.requestURI == before.requestURI, "\(text)")
    }
    #expect(read > 5000 && byItself > read, "\(read) of \(byItself)")
  }

  @Test func `a mangled media token that is still accepted is written back as it was received`() throws {
    var generator = SeededGenerator(state: 12)
    let token = MediaToken(
      sessionGUID: "guid", requestor: "REF30", resource: "a&b<c>", issued: Instant(milliseconds: 5),
      provider: "local", keyID: "key-1")
    let bytes = try #require(try? Base64.decode(token.serialized(signature: [1, 2, 3, 4])))
    let clear = String(decoding: bytes, as: UTF8.self)
    var read = 0
    for _ in 0..<20_000 {
      let text = mangled(clear, &generator)
      guard let received = try? ReceivedMediaToken(reading: text) else { continue }
      read += 1
      let start = "<signatureInfo>" + Base64.encode(received.signature)
      let element = String(decoding: received.signedBytes, as: UTF8.self)
      let forms = ["</signatureInfo>", "<signatureInfo>"].map { start + $0 + element }
      #expect(
        forms.contains(text.replacing("\n", with: "").replacing("\r", with: ""))
          || forms.contains(text))
    }
    #expect(read > 200)
  }

  @Test func `mangled device information is rejected or read without control characters`() {
    var generator = SeededGenerator(state: 13)
    let json = #"{"model":"Box 3","manufacturer":"Acme","osName":"Linux","displayWidth":1920}"#
    for _ in 0..<5000 {
      let text = mangled(json, &generator)
      for form in [Base64.encode(Array(text.utf8)), mangled(Base64.encode(Array(json.utf8)), &generator)] {
        guard let info = DeviceInformation(reading: form) else { continue }
        let shown = info.values.values.joined().unicodeScalars
        #expect(!shown.contains { $0.properties.generalCategory == .control })
        #expect(info.normalizedJSON.utf8.first == UInt8(ascii: "{"))
      }
    }
  }
}
