internal import CRegentLinux
internal import RegentPlatform
internal import Glibc
internal import RegentHTTPCodec

/// A socket address of the C library, IPv4 or IPv6.
struct SocketAddress {
  private var bytes = sockaddr_storage()
  private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

  init(_ host: IPAddress, _ port: UInt16) {
    if host.isIPv4 {
      var four = sockaddr_in()
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      four.sin_addr.s_addr = UInt32(truncatingIfNeeded: host.low).bigEndian
      fill(with: four)
    } else {
      var six = sockaddr_in6()
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      six.sin6_addr = host.in6
      fill(with: six)
    }
  }

  /// Room for the kernel to write into.
  init() {}

  private mutating func fill<Form>(with form: Form) {
    unsafe withUnsafeMutableBytes(of: &bytes) { unsafe $0.storeBytes(of: form, as: Form.self) }
    length = socklen_t(MemoryLayout<Form>.size)
  }

  /// Lends it to a call that reads it.
  func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    unsafe withUnsafePointer(to: bytes) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }

  /// Lends it to a call that fills it.
  mutating func filling<Result>(
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
  ) -> Result {
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &bytes) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe withUnsafeMutablePointer(to: &length) { unsafe body(generic, $0) }
      }
    }
  }

  /// The address as a TCP peer; nil for another family.
  var peer: Peer? {
    unsafe withUnsafeBytes(of: bytes) { raw in
      switch Int32(bytes.ss_family) {
      case AF_INET:
        let four = unsafe raw.load(as: sockaddr_in.self)
        return .network(
          IPAddress(ipv4: UInt32(bigEndian: four.sin_addr.s_addr)),
          port: UInt16(bigEndian: four.sin_port))
      case AF_INET6:
        let six = unsafe raw.load(as: sockaddr_in6.self)
        return .network(IPAddress(six.sin6_addr), port: UInt16(bigEndian: six.sin6_port))
      default:
        return nil
      }
    }
  }

  /// The address a socket is bound to.
  static func local(of descriptor: Int32) -> SocketAddress? {
    var address = SocketAddress()
    let result = unsafe address.filling { unsafe getsockname(descriptor, $0, $1) }
    return result == 0 ? address : nil
  }
}

/// The address of a Unix socket.
struct UnixAddress {
  private var bytes = sockaddr_un()

  /// Nil when the path does not fit or cannot be a path.
  init?(_ path: String) {
    let text = Array(path.utf8)
    guard !text.isEmpty, !text.contains(0) else { return nil }
    bytes.sun_family = sa_family_t(AF_UNIX)
    let fits = unsafe withUnsafeMutableBytes(of: &bytes.sun_path) { room in
      // One byte stays for the NUL.
      guard text.count < room.count else { return false }
      unsafe room.copyBytes(from: text)
      return true
    }
    guard fits else { return nil }
  }

  /// Lends it to a call that reads it.
  func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    unsafe withUnsafePointer(to: bytes) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// Who connected to a Unix socket, from the kernel.
func credentials(of descriptor: Int32) -> Credentials? {
  guard let who = try? UnixCredentials(peerOf: descriptor) else { return nil }
  return Credentials(
    process: who.process, user: who.user, group: who.group,
    supplementaryGroups: who.supplementaryGroups)
}
