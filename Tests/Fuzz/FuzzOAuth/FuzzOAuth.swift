// FuzzOAuth: what somebody else's server of OAuth says, as a box reads it: nothing is called or drawn that is not a
// plain address with TLS or of this machine, and a code is visible ASCII.

import FuzzSupport
import RegentHTTPCodec
import RegentJSON
import RegentOAuth

private let issuer = "https://a.example"

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let object = (try? JSONValue(reading: input, limits: DiscoveredServer.limits))?.object else { return 0 }
  let text = String(decoding: input, as: UTF8.self)
  if let server = try? DiscoveredServer(object, askedFor: issuer) {
    promise("it is about the issuer that was asked", object["issuer"]?.string == issuer, text)
    for address in [server.deviceAuthorization, server.token, server.revocation ?? server.token] {
      promise("what is called has TLS", address.lowercased().hasPrefix("https://"), text)
      promise("what is called is plain", isVisible(address), text)
    }
  }
  if let offer = try? DeviceOffer(object) {
    promise("what is drawn is visible", isVisible(offer.answer.userCode.filter { $0 != " " }), text)
    promise("and short", offer.answer.userCode.utf8.count <= 32 && offer.link.utf8.count <= 512, text)
    promise("an address is plain", isVisible(offer.link) && isVisible(offer.answer.verificationURI), text)
    for address in [offer.link, offer.answer.verificationURI] {
      let url = try? AbsoluteURL(parsing: address)
      promise("and safe", url.map { $0.scheme == "https" || $0.host.isLoopback } == true, text)
    }
    promise("a life is one", (1...DeviceOffer.longestLife).contains(offer.lifetime), text)
    var schedule = PollSchedule(seconds: offer.answer.interval)
    promise("a pause is one", (1_000...3_600_000).contains(schedule.afterPending()), text)
    promise("a longer one, too", (1_000...3_600_000).contains(schedule.afterFailure()), text)
  }
  if let tokens = try? TokenAnswer(foreign: object) {
    promise("a token is one word", isVisible(tokens.accessToken) && !tokens.accessToken.isEmpty, text)
    promise("of a kind that can be shown", ["Bearer", "DPoP"].contains(tokens.kind), text)
  }
  return 0
}

private func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
