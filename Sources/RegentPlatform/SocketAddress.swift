public import Glibc

/// Where a socket connects or is bound, in the kernel's form.
public struct SocketAddress: Sendable {
  private var storage: sockaddr_storage
  private let length: socklen_t

  /// The address family: `AF_INET`, `AF_INET6` or `AF_UNIX`.
  public var family: CInt { CInt(storage.ss_family) }

  /// A copy of what the kernel or the resolver gave.
  ///
  /// - Parameters:
  ///   - address: a socket address of any family.
  ///   - length: its bytes.
  public init?(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
    guard Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
    var storage = sockaddr_storage()
    unsafe memcpy(&storage, address, Int(length))
    self.storage = storage
    self.length = length
  }

  /// A Unix socket: a path, or an abstract name when it begins with "@".
  ///
  /// - Parameter path: at most 107 bytes without NUL.
  /// - Throws: `SystemError` when the kernel could not hold the path; it would otherwise be cut silently.
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

  /// Calls the body with the pointer and length that socket calls want.
  ///
  /// - Parameter body: makes the call.
  /// - Returns: what the body returned.
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
  /// The address as numbers, without port and brackets; `nil` for a Unix socket.
  public var numericHost: String? {
    guard family != AF_UNIX else { return nil }
    var text = [CChar](repeating: 0, count: 64)
    let code = unsafe withPointer { pointer, length in
      unsafe getnameinfo(pointer, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    }
    guard code == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
