internal import CRegentLinux
internal import Glibc

/// Hears from the kernel that something has changed which may let a call succeed that failed: the addresses of this
/// machine, its routes, its name servers, its clock.
///
/// A router of an IPv6 network announces itself every few seconds, and the kernel reports each time that addresses and
/// routes are good for longer: that is no change. What counts is what the machine has now; the messages are not read,
/// as the kernel drops some when there are too many.
///
/// Where the kernel does not let a program listen, as in a unit without `AF_NETLINK`, callers find out by silence.
public final class NetworkWatch {
  /// What has changed.
  public struct Change: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The machine's own addresses: connections from those that are gone are dead.
    public static let addresses = Change(rawValue: 1)
    /// A route, a cable, or the file of the name servers.
    public static let ways = Change(rawValue: 2)
    /// Somebody set the clock.
    public static let clock = Change(rawValue: 4)
  }

  private let network: SharedDescriptor
  private let files: SharedDescriptor?
  private let clock: SharedDescriptor?
  private var addresses: Set<String>
  private var ways: [String]

  private static let nameServers = "/etc/resolv.conf"

  /// Begins to listen; `nil` where that is not allowed.
  public init?() {
    let kind = CInt(SOCK_RAW.rawValue) | O_CLOEXEC | O_NONBLOCK
    let number = Glibc.socket(AF_NETLINK, kind, CInt(NETLINK_ROUTE))
    guard number >= 0 else { return nil }
    network = SharedDescriptor(FileDescriptor(owning: number))
    guard regent_listen_to_network(number) == 0 else { return nil }
    // A program that writes the file anew renames another over it, so the folder is watched.
    let folder = unsafe regent_watch_folder("/etc")
    files = folder < 0 ? nil : SharedDescriptor(FileDescriptor(owning: folder))
    let timer = regent_watch_clock()
    clock = timer < 0 ? nil : SharedDescriptor(FileDescriptor(owning: timer))
    addresses = Self.ownAddresses()
    ways = Self.ownWays()
  }

  /// What to wait for.
  public var numbers: [CInt] { [network.number, files?.number, clock?.number].compactMap(\.self) }

  /// Takes what has come.
  ///
  /// - Returns: what is otherwise than before.
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

  /// Bounded: a machine whose routes never rest must not hold the caller here.
  ///
  /// - Returns: with which error the last reading ended.
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

  /// Routes without their counters and lifetimes, cables that are in, and which file has the name servers.
  private static func ownWays() -> [String] {
    let routes = lines("/proc/net/route").map { fields(of: $0, [0, 1, 2, 7]) }
    // Only where a packet goes that no network of this machine takes: other routes come and go with neighbours.
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
