// FuzzDiscovery: datagrams with which any machine in the network can answer the search for a service. Parsing ends, the
// memory is bounded, and a found address is exactly the one that the box would call.

import FuzzSupport
import RegentHTTPClient
import RegentHTTPCodec

@testable import DeviceAgent

private let id: UInt16 = 0x5247

/// Fuzzes one input: datagrams, each after two bytes with its length.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var rest = unsafe bytes(start, count)[...]
  var found = FoundServices(id: id)
  while rest.count >= 2 {
    let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
    let datagram = Array(rest.dropFirst(2).prefix(length))
    rest = rest.dropFirst(2 + datagram.count)
    if let answer = DNSAnswer(datagram, to: id) {
      promise("a datagram gives at most 64 records", answer.records.count <= 64)
      for case .address(of: _, let bytes) in answer.records {
        promise("an address has four or sixteen bytes", bytes.count == 4 || bytes.count == 16)
      }
      for case .pointer(of: let owner, to: let target) in answer.records {
        promise("a name has at most 255 bytes", owner.bytes.count <= 255 && target.bytes.count <= 255)
      }
    }
    found.hear(datagram)
  }
  promise("the number of questions is limited", found.questions.count <= FoundServices.most + 1)
  for service in found.services {
    let text = service.address.description
    promise("an address is read as it was written", (try? AbsoluteURL(parsing: text)) == service.address, text)
    promise("an address is not this machine's", !service.address.host.isLoopback, text)
    promise(
      "an address has no query and no fragment", service.address.query == nil && service.address.fragment == nil, text)
  }
  return 0
}
