import CRegentLinux
import Glibc
import RegentPlatform

/// Finds out whether a TCP connection still works.
///
/// A router may have dropped it, or this machine may have a new address; neither end is told.
enum TCPLiveness {
  /// The time without an acknowledgement after which a request is sent again on a new connection, in nanoseconds.
  ///
  /// A round trip over a slow satellite link is shorter.
  static let secondTry: UInt64 = 2_000_000_000

  /// Makes the kernel end a connection after about seven seconds without any packet from the server.
  ///
  /// A keep-alive probe every four seconds also prevents routers from dropping the connection.
  static func watch(_ socket: CInt) {
    for (level, option, value) in [
      (SOL_SOCKET, SO_KEEPALIVE, 1), (CInt(IPPROTO_TCP), TCP_KEEPIDLE, 4), (CInt(IPPROTO_TCP), TCP_KEEPINTVL, 1),
      (CInt(IPPROTO_TCP), TCP_KEEPCNT, 3), (CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, 7_000),
    ] as [(CInt, CInt, CInt)] {
      var value = value
      _ = unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }
  }

  /// Whether some of the bytes that were sent on the connection have not been acknowledged by the server's kernel.
  static func isUnacknowledged(_ socket: CInt) -> Bool {
    guard let info = info(socket) else { return false }
    return info.tcpi_unacked > 0
  }

  /// Whether a connection that has failed ended because the server's machine was silent.
  static func hasFallenSilent(_ socket: CInt) -> Bool {
    guard let info = info(socket) else { return false }
    // A connection that was never made has no round trip time.
    return info.tcpi_rtt > 0 && info.tcpi_last_ack_recv >= silence
  }

  /// The time without a packet, in milliseconds, after which a failure counts as silence.
  ///
  /// On a connection that works, probes are acknowledged every four seconds.
  private static let silence: UInt32 = 6_000

  private static func info(_ socket: CInt) -> tcp_info? {
    var info = tcp_info()
    var length = socklen_t(MemoryLayout<tcp_info>.size)
    let asked = attempt { unsafe getsockopt(socket, CInt(IPPROTO_TCP), TCP_INFO, &info, &length) }
    return asked.code == 0 ? info : nil
  }

  /// Whether this machine no longer has the local address of the connection, so that no response can arrive.
  static func hasLostItsAddress(_ socket: CInt) -> Bool {
    var own = SocketAddress()
    guard attempt({ unsafe own.fill { unsafe getsockname(socket, $0, $1) } }).code == 0 else { return false }
    let address: SocketAddress
    if let ipv4 = own.ipv4 {
      address = SocketAddress(ipv4: ipv4.bits, port: 0)
    } else if let ipv6 = own.ipv6, ipv6.halves.high >> 48 != 0xfe80 {
      address = SocketAddress(ipv6: ipv6.halves, port: 0)
    } else {
      return false
    }
    let number = Glibc.socket(address.family, CInt(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
    guard number >= 0 else { return false }
    let trial = FileDescriptor(owning: number)
    return attempt { unsafe address.withPointer { unsafe bind(trial.number, $0, $1) } }.code == EADDRNOTAVAIL
  }
}
