public import Glibc

/// A socket address (IPv4, IPv6 or Unix) in the kernel's format.
public struct SocketAddress: Sendable {
  private var storage: sockaddr_storage
  /// The offset of the address in `sockaddr_in6`.
  ///
  /// The C member cannot be used by name in every build: Swift's importer assigns it to Glibc or to CRegentLinux,
  /// depending on which of them it reads first.
  private static let ipv6Place = 8
  private var length: socklen_t

  /// The address family: `AF_INET`, `AF_INET6` or `AF_UNIX`.
  public var family: CInt { CInt(storage.ss_family) }

  /// An empty address for the kernel to fill in, see ``fill(_:)``.
  public init() {
    storage = sockaddr_storage()
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
  }

  /// Creates an IPv4 socket address with a port.
  ///
  /// The highest bits are the first byte of the address.
  public init(ipv4 bits: UInt32, port: UInt16) {
    self.init()
    var form = sockaddr_in()
    form.sin_family = sa_family_t(AF_INET)
    form.sin_port = port.bigEndian
    form.sin_addr.s_addr = bits.bigEndian
    unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: form, as: sockaddr_in.self) }
    length = socklen_t(MemoryLayout<sockaddr_in>.size)
  }

  /// Creates an IPv6 socket address with a port.
  ///
  /// The highest bits of each half are its first byte.
  public init(ipv6 halves: (high: UInt64, low: UInt64), port: UInt16) {
    self.init()
    var form = sockaddr_in6()
    form.sin6_family = sa_family_t(AF_INET6)
    form.sin6_port = port.bigEndian
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.storeBytes(of: form, as: sockaddr_in6.self)
      unsafe bytes.storeBytes(of: halves.high.bigEndian, toByteOffset: Self.ipv6Place, as: UInt64.self)
      unsafe bytes.storeBytes(of: halves.low.bigEndian, toByteOffset: Self.ipv6Place + 8, as: UInt64.self)
    }
    length = socklen_t(MemoryLayout<sockaddr_in6>.size)
  }

  /// Copies an address that the kernel or the resolver returned; nil when it is too long.
  public init?(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
    guard Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
    var storage = sockaddr_storage()
    unsafe memcpy(&storage, address, Int(length))
    self.storage = storage
    self.length = length
  }

  /// Creates the address of a Unix socket: a path, or an abstract name when it begins with "@".
  ///
  /// - Parameter path: at most 107 bytes without NUL.
  /// - Throws: `SystemError` when the path is empty, contains NUL or is longer; the kernel would cut it silently.
  public init(unixPath path: String) throws(SystemError) {
    var bytes = Array(path.utf8)
    guard !bytes.isEmpty, !bytes.contains(0) else {
      throw SystemError(operation: "use socket path", subject: "\"\(path)\"", code: EINVAL)
    }
    guard bytes.count < 108 else {
      throw SystemError(operation: "use socket path", subject: path, code: ENAMETOOLONG)
    }
    let abstract = bytes[0] == UInt8(ascii: "@")
    if abstract { bytes[0] = 0 } else { bytes.append(0) }
    var storage = sockaddr_storage()
    storage.ss_family = sa_family_t(AF_UNIX)
    let prefix = MemoryLayout<sa_family_t>.size
    unsafe withUnsafeMutableBytes(of: &storage) { raw in
      for (index, byte) in bytes.enumerated() { unsafe raw[prefix + index] = byte }
    }
    self.storage = storage
    self.length = socklen_t(prefix + bytes.count)
  }

  /// Calls `body` with the pointer and length that socket calls need.
  public func withPointer<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    unsafe withUnsafePointer(to: storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe body(generic, length)
      }
    }
  }
}

extension SocketAddress {
  /// Calls `body` with a pointer to the storage and its size, for system calls that write an address.
  public mutating func fill(
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) -> CInt {
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe withUnsafeMutablePointer(to: &length) { unsafe body(generic, $0) }
      }
    }
  }

  /// The address and port, if this is an IPv4 address; otherwise nil.
  public var ipv4: (bits: UInt32, port: UInt16)? {
    guard family == AF_INET else { return nil }
    let form = unsafe withUnsafeBytes(of: storage) { unsafe $0.load(as: sockaddr_in.self) }
    return (UInt32(bigEndian: form.sin_addr.s_addr), UInt16(bigEndian: form.sin_port))
  }

  /// The address and port, if this is an IPv6 address; otherwise nil.
  public var ipv6: (halves: (high: UInt64, low: UInt64), port: UInt16)? {
    guard family == AF_INET6 else { return nil }
    return unsafe withUnsafeBytes(of: storage) { bytes in
      let form = unsafe bytes.load(as: sockaddr_in6.self)
      let high = unsafe bytes[Self.ipv6Place..<Self.ipv6Place + 8].reduce(0) { $0 << 8 | UInt64($1) }
      let low = unsafe bytes[Self.ipv6Place + 8..<Self.ipv6Place + 16].reduce(0) { $0 << 8 | UInt64($1) }
      return ((high, low), UInt16(bigEndian: form.sin6_port))
    }
  }

  /// The numeric address, without port and brackets; nil for a Unix socket.
  public var numericHost: String? {
    guard family != AF_UNIX else { return nil }
    var text = [CChar](repeating: 0, count: 64)
    let code = unsafe withPointer { pointer, length in
      unsafe getnameinfo(pointer, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    }
    guard code == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}
