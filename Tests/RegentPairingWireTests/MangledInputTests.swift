import RegentEncodings
import RegentPairing
import TestSupport
import Testing

@testable import RegentPairingWire

@Suite struct `Mangled input` {
  /// A few bytes of a text changed, left out, doubled or moved.
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

  @Test func `a signed header that is still read is exactly what was received`() throws {
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

  @Test func `a media token that is still read is exactly what was received`() throws {
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

  @Test func `device information is read or not, and shows no control characters`() {
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
