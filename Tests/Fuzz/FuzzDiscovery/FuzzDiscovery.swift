// FuzzDiscovery: datagrams with which somebody in the network answers the search for a service. Whatever comes, reading
// ends, what is kept has an end, and an address that is shown is the one that would be called.

import FuzzSupport
import RegentHTTPCodec

@testable import DeviceAgent

private let id: UInt16 = 0x5247

/// One input: datagrams, each behind two bytes with its length.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var rest = unsafe bytes(start, count)[...]
  var found = FoundServices(id: id)
  while rest.count >= 2 {
    let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
    let datagram = Array(rest.dropFirst(2).prefix(length))
    rest = rest.dropFirst(2 + datagram.count)
    if let answer = DNSAnswer(datagram, to: id) {
      promise("an answer has an end", answer.records.count <= 64)
      for case .pointer(of: let owner, to: let target) in answer.records {
        promise("a name can be asked for", owner.bytes.count <= 255 && target.bytes.count <= 255)
      }
    }
    found.hear(datagram)
  }
  promise("what is asked has an end", found.questions.count <= FoundServices.most + 1)
  for service in found.services {
    let text = service.address.description
    promise("an address is one", (try? AbsoluteURL(parsing: text)) == service.address, text)
    promise("it is another machine's", !service.address.host.isLoopback, text)
    promise("nothing is smuggled in", service.address.query == nil && service.address.fragment == nil, text)
  }
  return 0
}
