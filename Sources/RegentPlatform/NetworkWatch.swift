internal import CRegentLinux
internal import Glibc

/// Hears from the kernel that the addresses of this machine are others.
///
/// A router of an IPv6 network announces itself every few seconds, and the kernel reports each time that the addresses
/// are good for longer: that is no change.
///
/// Where the kernel does not let a program listen, as in a unit without `AF_NETLINK`, there is no watch: callers then
/// find out by silence.
public final class NetworkWatch {
  private let socket: FileDescriptor
  private var addresses: Set<String> = []

  /// Begins to listen; `nil` where that is not allowed.
  public init?() {
    let kind = CInt(SOCK_RAW.rawValue) | O_CLOEXEC | O_NONBLOCK
    let number = Glibc.socket(AF_NETLINK, kind, CInt(NETLINK_ROUTE))
    guard number >= 0 else { return nil }
    socket = FileDescriptor(owning: number)
    if regent_listen_to_addresses(number) != 0 { return nil }
    addresses = Self.ownAddresses()
  }

  /// What to wait for.
  public var number: CInt { socket.number }

  /// Takes what has come.
  ///
  /// The messages are not read: the kernel drops some when there are too many. What counts is what the machine has now.
  ///
  /// - Returns: whether the addresses are others than before.
  public func hasChanged() -> Bool {
    var room = [UInt8](repeating: 0, count: 4_096)
    // Bounded: a machine whose routes never rest must not hold the caller here.
    for _ in 0..<64 {
      let (count, code) = attempt { unsafe recv(number, &room, room.count, 0) }
      if count <= 0, code != ENOBUFS, code != EINTR { break }
    }
    let now = Self.ownAddresses()
    defer { addresses = now }
    return now != addresses
  }

  private static func ownAddresses() -> Set<String> { Set(OwnAddress.all().compactMap(\.address.numericHost)) }
}
