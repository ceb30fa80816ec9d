internal import Glibc

/// The program that listens on a TCP port of this machine, as far as this user may see it.
public struct PortHolder: Equatable, Sendable {
  /// The program's name and process id; nil when the program belongs to another user, because only root may examine it
  /// then.
  public let name: String?
  public let process: Int32?
  /// The systemd unit that runs the program.
  public let unit: String?

  /// Finds the program that listens on an address.
  ///
  /// - Parameter wanted: the address and port. The IPv6 address `::` stands for all addresses of both families.
  /// - Returns: nil when the address is free.
  public static func of(_ wanted: SocketAddress) -> PortHolder? {
    guard !isFree(wanted) else { return nil }
    let sockets = listening(on: wanted.ipv4?.port ?? wanted.ipv6?.port ?? 0)
    for process in names(in: "/proc").compactMap(Int32.init) {
      let folder = "/proc/\(process)/fd"
      for name in names(in: folder) where isOne(of: sockets, "\(folder)/\(name)") {
        return PortHolder(name: line("/proc/\(process)/comm"), process: process, unit: unit(of: process))
      }
    }
    return PortHolder(name: nil, process: nil, unit: nil)
  }

  /// Whether a program may listen on the address.
  ///
  /// The test binds a socket for a moment, without accepting connections.
  ///
  /// Other obstacles, such as a missing right, count as free: the program reports them when it starts.
  public static func isFree(_ wanted: SocketAddress) -> Bool {
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    guard let number = try? systemCall("open", on: "a socket", { socket(wanted.family, kind, 0) }) else { return true }
    defer { close(number) }
    // SO_REUSEADDR is set, because a connection that was closed a moment ago must not make the port look taken.
    var isOn: CInt = 1
    let size = socklen_t(MemoryLayout<CInt>.size)
    _ = unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &isOn, size)
    if let halves = wanted.ipv6?.halves {
      var isAlone: CInt = halves.high == 0 && halves.low == 0 ? 0 : 1
      _ = unsafe setsockopt(number, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &isAlone, size)
    }
    let code = attempt { unsafe wanted.withPointer { unsafe bind(number, $0, $1) } }.code
    return code != EADDRINUSE
  }

  /// The inodes of the sockets that listen on a port, with any address.
  ///
  /// If several programs listen on the port, it does not matter which one is named.
  private static func listening(on port: UInt16) -> Set<UInt64> {
    let state = "0A"
    var found: Set<UInt64> = []
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
      guard let bytes = try? DurableFile.read(table, limit: 16 << 20, widest: nil) else { continue }
      for line in TextLines.texts(of: bytes).dropFirst() {
        let fields = line.split(separator: " ")
        guard fields.count > 9, fields[3] == state, let digits = fields[1].split(separator: ":").last,
          UInt16(digits, radix: 16) == port, let inode = UInt64(fields[9])
        else { continue }
        found.insert(inode)
      }
    }
    return found
  }

  private static func isOne(of sockets: Set<UInt64>, _ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
    return sockets.contains(UInt64(status.st_ino))
  }

  /// The systemd unit whose control group a process is in, for example `regentd.service`.
  private static func unit(of process: Int32) -> String? {
    line("/proc/\(process)/cgroup")?.split(separator: "/").last { $0.hasSuffix(".service") }.map(String.init)
  }

  private static func line(_ path: String) -> String? {
    (try? DurableFile.read(path, limit: 4_096, widest: nil))
      .flatMap { TextLines.texts(of: $0).first { !$0.isEmpty } }
  }

  /// The names in a folder; empty when the folder cannot be read.
  private static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      names.append(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        })
    }
    return names
  }
}
