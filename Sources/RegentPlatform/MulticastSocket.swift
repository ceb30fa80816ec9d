internal import Glibc

/// A UDP socket that sends datagrams to an IPv4 multicast group on all networks of this machine, and receives the
/// answers.
public struct MulticastSocket: ~Copyable {
  private let datagrams: FileDescriptor
  private let group: SocketAddress
  private let isGroup: Bool
  private let port: UInt16

  /// The maximum length of a datagram in bytes.
  ///
  /// Longer datagrams are ignored.
  private static let longest = 9_000

  /// Opens a socket with a port that the kernel chooses, so that only answers to this socket's datagrams arrive there.
  ///
  /// - Parameters:
  ///   - bits: the group's IPv4 address, first byte most significant. For a unicast address only that machine is asked.
  ///   - port: the port on which the group listens.
  /// - Throws: `SystemError` when no socket can be opened.
  public init(group bits: UInt32, port: UInt16) throws(SystemError) {
    let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    datagrams = FileDescriptor(owning: try systemCall("open", on: "a socket") { socket(AF_INET, kind, 0) })
    group = SocketAddress(ipv4: bits, port: port)
    isGroup = bits >> 28 == 0xE
    self.port = port
  }

  /// Sends a datagram to the group on each network.
  ///
  /// - Returns: whether it was sent on at least one network.
  public borrowing func ask(_ bytes: [UInt8]) -> Bool {
    guard isGroup else { return send(bytes) }
    var isSent = false
    for var network in ownNetworks() {
      let code = unsafe setsockopt(
        datagrams.number, CInt(IPPROTO_IP), IP_MULTICAST_IF, &network, socklen_t(MemoryLayout<in_addr>.size))
      if code == 0, send(bytes) { isSent = true }
    }
    return isSent
  }

  /// Waits for a datagram that was sent from the group's port.
  ///
  /// - Parameter milliseconds: how long to wait at most.
  /// - Returns: its bytes; an empty array when a datagram from another port arrived; nil after the time is over.
  public borrowing func hear(milliseconds: CInt) -> [UInt8]? {
    var watched = pollfd(fd: datagrams.number, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&watched, 1, milliseconds) == 1 else { return nil }
    var sender = SocketAddress()
    var bytes = [UInt8](repeating: 0, count: Self.longest + 1)
    let number = datagrams.number
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      var length = 0
      _ = unsafe sender.fill { address, size in
        length = unsafe recvfrom(number, buffer.baseAddress, buffer.count, 0, address, size)
        return length < 0 ? -1 : 0
      }
      return length
    }
    guard (0...Self.longest).contains(count), sender.ipv4?.port == port else { return [] }
    return Array(bytes.prefix(count))
  }

  private borrowing func send(_ bytes: [UInt8]) -> Bool {
    let number = datagrams.number
    let count = unsafe group.withPointer { address, size in
      unsafe sendto(number, bytes, bytes.count, 0, address, size)
    }
    return count == bytes.count
  }

  /// The IPv4 addresses of this machine on networks that support multicast.
  private borrowing func ownNetworks() -> [in_addr] {
    let found = OwnAddress.all().filter(\.reachesNeighbours).compactMap(\.address.ipv4)
    return found.prefix(32).map { in_addr(s_addr: $0.bits.bigEndian) }
  }
}
