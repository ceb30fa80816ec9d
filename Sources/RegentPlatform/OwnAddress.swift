internal import Glibc

/// An address of this machine on one of its networks, including loopback.
public struct OwnAddress: Sendable {
  /// The address, with port 0.
  public let address: SocketAddress
  let flags: UInt32

  /// The maximum number of addresses to list.
  ///
  /// Further ones are left out.
  private static let most = 1_024

  /// All current IPv4 and IPv6 addresses of this machine; empty if the kernel does not report them.
  public static func all() -> [OwnAddress] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&first) == 0 else { return [] }
    defer { unsafe freeifaddrs(first) }
    var found: [OwnAddress] = []
    var next = unsafe first
    while let one = unsafe next, found.count < most {
      unsafe next = one.pointee.ifa_next
      guard let address = unsafe one.pointee.ifa_addr else { continue }
      let length: Int
      switch CInt(unsafe UnsafeRawPointer(address).load(as: sa_family_t.self)) {
      case AF_INET: length = MemoryLayout<sockaddr_in>.size
      case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
      default: continue
      }
      guard let copy = unsafe SocketAddress(copying: address, length: socklen_t(length)) else { continue }
      found.append(OwnAddress(address: copy, flags: unsafe one.pointee.ifa_flags))
    }
    return found
  }

  /// Whether the interface is up, is not loopback, and supports multicast.
  ///
  /// The constants are from net/if.h: a C shim that includes that header would take other headers out of Glibc's
  /// module.
  var reachesNeighbours: Bool {
    let (isUp, isLoopback, hearsGroups): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x1000)
    return flags & (isUp | isLoopback | hearsGroups) == isUp | hearsGroups
  }
}
