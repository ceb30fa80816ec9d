// FuzzOAuth: the responses of a foreign OAuth server, as a box reads them. The box calls and draws only plain addresses
// that use TLS or lead to this machine, and a code is visible ASCII.

import FuzzSupport
import RegentHTTPCodec
import RegentJSON
import RegentOAuth

private let issuer = "https://a.example"

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let object = (try? JSONValue(reading: input, limits: DiscoveredServer.limits))?.object else { return 0 }
  let text = String(decoding: input, as: UTF8.self)
  if let server = try? DiscoveredServer(object, askedFor: issuer) {
    promise("the metadata names the requested issuer", object["issuer"]?.string == issuer, text)
    for address in [server.deviceAuthorization, server.token, server.revocation ?? server.token] {
      promise("an address that the box calls uses TLS", address.lowercased().hasPrefix("https://"), text)
      promise("an address that the box calls is visible ASCII", isVisible(address), text)
    }
  }
  if let offer = try? DeviceOffer(object) {
    promise("a user code is visible ASCII", isVisible(offer.answer.userCode.filter { $0 != " " }), text)
    promise(
      "the user code and the link are short", offer.answer.userCode.utf8.count <= 32 && offer.link.utf8.count <= 512,
      text)
    promise("a link is visible ASCII", isVisible(offer.link) && isVisible(offer.answer.verificationURI), text)
    for address in [offer.link, offer.answer.verificationURI] {
      let url = try? AbsoluteURL(parsing: address)
      promise(
        "a link uses TLS or leads to this machine", url.map { $0.scheme == "https" || $0.host.isLoopback } == true, text
      )
    }
    promise("the lifetime of a code is within its limits", (1...DeviceOffer.longestLife).contains(offer.lifetime), text)
    var schedule = PollSchedule(seconds: offer.answer.interval)
    promise("a pause between polls is within its limits", (1_000...3_600_000).contains(schedule.afterPending()), text)
    promise("a pause after a failure is within its limits", (1_000...3_600_000).contains(schedule.afterFailure()), text)
  }
  if let tokens = try? TokenAnswer(foreign: object) {
    promise("a token is visible ASCII", isVisible(tokens.accessToken) && !tokens.accessToken.isEmpty, text)
    promise("the token type is Bearer or DPoP", ["Bearer", "DPoP"].contains(tokens.kind), text)
  }
  return 0
}

private func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
