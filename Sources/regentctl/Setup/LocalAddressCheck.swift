import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// Checks whether the public address belongs to this machine.
enum LocalAddressCheck {
  /// Private networks.
  ///
  /// If no interface of this machine has such an address, phones cannot reach the service there.
  ///
  /// Public addresses are not checked, because a router may forward them, and host names are not, because phones
  /// resolve them.
  private static let localNetworks = [
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10",
  ].compactMap { try? IPNetwork(parsing: $0) }

  /// The maximum number of addresses that the message lists.
  private static let mostShown = 6

  /// The problem with a public address, if it does not lead to this machine.
  ///
  /// - Parameters:
  ///   - url: the public address.
  ///   - insisting: what to type if the address is correct nevertheless.
  /// - Returns: nil if no problem was found.
  static func objection(to url: AbsoluteURL, insisting: String) -> CommandError? {
    guard case .address(let wanted) = url.host, !wanted.isLoopback,
      wanted.isUnspecified || localNetworks.contains(where: { $0.contains(wanted) })
    else { return nil }
    let own = OwnAddress.all().compactMap(\.ip)
    guard !own.contains(wanted) else { return nil }
    let shown = own.filter { !$0.isLoopback && !($0.high >> 54 == 0x3FA) }.prefix(mostShown).map {
      HostName.address($0)
    }
    let list = shown.map(\.description).joined(separator: ", ")
    return .usage(
      "\(url.host) is not an address of this machine" + (shown.isEmpty ? "" : ", which has \(list)"),
      hint: (shown.first.map { "use \(url.scheme)://\($0)\(url.port.map { ":\($0)" } ?? ""), or " } ?? "") + insisting)
  }
}

extension OwnAddress {
  fileprivate var ip: IPAddress? {
    if let bits = address.ipv4?.bits { return IPAddress(ipv4: bits) }
    return address.ipv6.map { IPAddress(high: $0.halves.high, low: $0.halves.low) }
  }
}
