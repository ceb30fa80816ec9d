internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform

// Converts between the kernel's addresses and those of this target.
extension SocketAddress {
  init(_ host: IPAddress, _ port: UInt16) {
    if host.isIPv4 {
      self.init(ipv4: UInt32(truncatingIfNeeded: host.low), port: port)
    } else {
      self.init(ipv6: (host.high, host.low), port: port)
    }
  }

  /// The address as a TCP peer; nil if it is not IPv4 or IPv6.
  var peer: Peer? {
    if let (bits, port) = ipv4 { return .network(IPAddress(ipv4: bits), port: port) }
    if let (halves, port) = ipv6 { return .network(IPAddress(high: halves.high, low: halves.low), port: port) }
    return nil
  }
}

/// The credentials of the process at the other end of a Unix socket, as the kernel reports them.
func credentials(of descriptor: Int32) -> Credentials? {
  guard let who = try? UnixCredentials(peerOf: descriptor) else { return nil }
  return Credentials(
    process: who.process, user: who.user, group: who.group,
    supplementaryGroups: who.supplementaryGroups)
}
