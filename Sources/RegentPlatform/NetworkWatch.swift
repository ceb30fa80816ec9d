internal import CRegentLinux
internal import Glibc

/// Notices changes after which a failed call may succeed: of this machine's addresses, routes, name servers or clock.
///
/// The watch compares the current state with the previous one, and ignores the content of the kernel's messages. IPv6
/// routers announce themselves every few seconds, and each announcement only extends the lifetimes of addresses and
/// routes, which is no change. The kernel also drops messages when there are too many.
///
/// In a systemd unit that does not allow `AF_NETLINK` there is no watch, and callers learn of changes only by
/// time-outs.
public final class NetworkWatch {
  public struct Change: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The machine's addresses have changed.
    ///
    /// Connections from an address that the machine no longer has are dead.
    public static let addresses = Change(rawValue: 1)
    /// A route or the name server file has changed, or a cable was plugged or unplugged.
    public static let ways = Change(rawValue: 2)
    /// The wall clock of the machine was set.
    public static let clock = Change(rawValue: 4)
  }

  private let network: SharedDescriptor
  private let files: SharedDescriptor?
  private let clock: SharedDescriptor?
  private var addresses: Set<String>
  private var ways: [String]

  private static let nameServers = "/etc/resolv.conf"

  /// Starts watching.
  ///
  /// Returns nil if the kernel does not allow it.
  public init?() {
    let kind = CInt(SOCK_RAW.rawValue) | O_CLOEXEC | O_NONBLOCK
    let number = Glibc.socket(AF_NETLINK, kind, CInt(NETLINK_ROUTE))
    guard number >= 0 else { return nil }
    network = SharedDescriptor(FileDescriptor(owning: number))
    guard regent_listen_to_network(number) == 0 else { return nil }
    // The folder is watched and not the name server file, because programs replace the file by renaming a new one over
    // it.
    let folder = unsafe regent_watch_folder("/etc")
    files = folder < 0 ? nil : SharedDescriptor(FileDescriptor(owning: folder))
    let timer = regent_watch_clock()
    clock = timer < 0 ? nil : SharedDescriptor(FileDescriptor(owning: timer))
    addresses = Self.ownAddresses()
    ways = Self.ownWays()
  }

  /// The file descriptors that the caller must poll.
  public var numbers: [CInt] { [network.number, files?.number, clock?.number].compactMap(\.self) }

  /// Reads all pending messages of the kernel.
  ///
  /// - Returns: what has changed since the last call.
  public func change() -> Change {
    var change: Change = []
    Self.drain(network.number)
    if let files { Self.drain(files.number) }
    if let clock, Self.drain(clock.number) == ECANCELED { change.insert(.clock) }
    let (addressesNow, waysNow) = (Self.ownAddresses(), Self.ownWays())
    if addressesNow != addresses { change.insert(.addresses) }
    if waysNow != ways { change.insert(.ways) }
    (addresses, ways) = (addressesNow, waysNow)
    return change
  }

  /// Reads a limited number of messages.
  ///
  /// On a machine whose routes change all the time, the caller must not be stuck here.
  ///
  /// - Returns: the error code of the last read.
  @discardableResult
  private static func drain(_ number: CInt) -> CInt {
    var room = [UInt8](repeating: 0, count: 4_096)
    for _ in 0..<64 {
      let (count, code) = attempt { unsafe Glibc.read(number, &room, room.count) }
      if count <= 0, code != ENOBUFS, code != EINTR { return code }
    }
    return 0
  }

  private static func ownAddresses() -> Set<String> { Set(OwnAddress.all().compactMap(\.address.numericHost)) }

  /// The state of the network: routes without counters and lifetimes, addresses whose cable is plugged in, and the
  /// identity of the name server file.
  private static func ownWays() -> [String] {
    let routes = lines("/proc/net/route").map { fields(of: $0, [0, 1, 2, 7]) }
    // Of the IPv6 routes only the default ones are compared. Others come and go with neighbouring machines.
    let anywhere = String(repeating: "0", count: 32) + " 00"
    let others = lines("/proc/net/ipv6_route").filter { $0.hasPrefix(anywhere) }.map { fields(of: $0, [4, 9]) }
    let running: UInt32 = 0x40
    let cables = OwnAddress.all().filter { $0.flags & running != 0 }.compactMap(\.address.numericHost)
    var status = stat()
    let file =
      unsafe stat(nameServers, &status) == 0
      ? "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)" : ""
    return routes.sorted() + others.sorted() + cables.sorted() + [file]
  }

  private static func lines(_ path: String) -> [Substring] {
    (kernelTable(path, atMost: 1 << 18) ?? "").split(separator: "\n")
  }

  private static func fields(of line: Substring, _ places: [Int]) -> String {
    let all = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
    return places.map { $0 < all.count ? String(all[$0]) : "" }.joined(separator: " ")
  }
}
