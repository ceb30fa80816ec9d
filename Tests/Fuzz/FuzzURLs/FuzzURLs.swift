// FuzzURLs: URLs, hosts, addresses and networks. Everything that is accepted is written and read again unchanged.

import FuzzSupport
import RegentHTTPCodec

/// Fuzzes one input, a text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  let text = String(decoding: input, as: UTF8.self)

  if let url = try? AbsoluteURL(parsing: text) {
    promise(
      "a URL is ASCII without blanks", text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }
    )
    let again = try? AbsoluteURL(parsing: url.description)
    promise("a URL is written and read as the same", again == url, "\(url)")
    // The parsed parts together have the length of the text: nothing is lost or added.
    let length = url.description.utf8.count
    let isAddress = if case .address = url.host { true } else { false }
    promise("the parts of a URL are as long as its text", isAddress || length == text.utf8.count, "\(url)")
    promise("the path begins with a slash", url.path.isEmpty || url.path.hasPrefix("/"))
    promise("the target begins with a slash", url.requestTarget.hasPrefix("/"))
    promise("a host has no user information", !url.host.description.contains("@"))
    promise("an origin is read as the same origin", (try? AbsoluteURL(parsing: url.origin))?.origin == url.origin)
    if let port = url.port { promise("a port is in range", (1...65535).contains(port)) }
  }
  if let host = HostName(parsing: text) {
    promise(
      "a host is written and read as the same", HostName(parsing: host.description) == host,
      "\(host)")
    for byte in host.description.utf8 {
      promise("a host has no separator", byte > 0x20 && !"/?#@\\%".utf8.contains(byte))
    }
  }
  if let address = IPAddress(text) {
    promise(
      "an address is written and read as the same", IPAddress(address.description) == address,
      "\(address)")
    for bits in [0, 1, 31, 32, 63, 64, 65, 127, 128] {
      let network = address.network(leadingBits: bits)
      promise("the network of a network is itself", network.network(leadingBits: bits) == network)
      promise("the network of the full length is the address", bits < address.width || network == address)
    }
  }
  if let network = try? IPNetwork(parsing: text) {
    promise(
      "a network is written and read as the same",
      (try? IPNetwork(parsing: network.description)) == network)
    promise("a network contains its base", network.contains(network.base))
  }
  if let seconds = HTTPDate.epochSeconds(text) {
    let written = HTTPDate.text(epochSeconds: seconds)
    promise("a date is written as it was read", written == text || text.contains(":60 "), written)
  }
  return 0
}
