internal import Glibc
internal import RegentHTTPCodec
public import HTTPServer
public import TestSupport

public struct WireError: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// A connection that sends any bytes and returns what it receives.
///
/// It blocks, so tests use it outside of the thread pool.
public final class WireConnection {
  private let descriptor: Int32
  private var received: [UInt8] = []
  public private(set) var isEnded = false

  /// Connects.
  ///
  /// Each wait for bytes is limited to `patience` seconds.
  public init(_ address: ListenAddress, patience: Int = TestSupport.patience) throws {
    let family: Int32
    switch address {
    case .network(let host, _): family = host.isIPv4 ? AF_INET : AF_INET6
    case .local: family = AF_UNIX
    case .inherited: throw WireError("an inherited socket has no address to connect to")
    }
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw WireError("no socket: errno \(errno)") }
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    // Sends each piece at once, so that a test decides how the bytes are split.
    var on: Int32 = 1
    unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    guard Self.connect(descriptor, address) else {
      throw WireError("cannot connect to \(address): errno \(errno)")
    }
  }

  deinit { close(descriptor) }

  /// Sends all bytes.
  ///
  /// It is no error if the other side closes the connection meanwhile.
  public func send(_ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.send(
          descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done,
          Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        done += count
      } else if errno == EPIPE || errno == ECONNRESET {
        return
      } else if errno != EINTR {
        throw WireError("cannot send: errno \(errno)")
      }
    }
  }

  /// Shuts down the sending side.
  public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  public func response(toHead: Bool = false) throws -> TestResponse {
    while true {
      let taken = try TestResponse.take(from: &received, toHead: toHead, isEnded: isEnded)
      if let taken { return taken }
      guard !isEnded else {
        let rest = String(decoding: received.prefix(200), as: UTF8.self)
        throw WireError("the connection ended before a response; there was: \(rest)")
      }
      try receive()
    }
  }

  /// Waits until the other side closes the connection, and returns the bytes that no response has used.
  public func rest() throws -> [UInt8] {
    while !isEnded { try receive() }
    return received
  }

  private func receive() throws {
    var chunk = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe chunk.withUnsafeMutableBytes { buffer in
      unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
    }
    if count > 0 {
      received += chunk[..<count]
    } else if count == 0 || errno == ECONNRESET {
      isEnded = true
    } else if errno == EAGAIN {
      throw WireError("nothing came for too long, and the connection stayed open")
    } else if errno != EINTR {
      throw WireError("cannot receive: errno \(errno)")
    }
  }

  private static func connect(_ descriptor: Int32, _ address: ListenAddress) -> Bool {
    switch address {
    case .network(let host, let port) where host.isIPv4:
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      name.sin_addr.s_addr = UInt32(host.low).bigEndian
      return unsafe connect(descriptor, &name, MemoryLayout<sockaddr_in>.size)
    case .network(let host, let port):
      var name = sockaddr_in6()
      name.sin6_family = sa_family_t(AF_INET6)
      name.sin6_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &name.sin6_addr) { bytes in
        unsafe bytes.storeBytes(of: host.high.bigEndian, as: UInt64.self)
        unsafe bytes.storeBytes(of: host.low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      return unsafe connect(descriptor, &name, MemoryLayout<sockaddr_in6>.size)
    case .local(let path, _, _):
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
      return unsafe connect(descriptor, &name, MemoryLayout<sockaddr_un>.size)
    case .inherited: return false
    }
  }

  private static func connect<Name>(
    _ descriptor: Int32, _ name: UnsafePointer<Name>, _ size: Int
  ) -> Bool {
    unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
      unsafe Glibc.connect(descriptor, generic, socklen_t(size)) == 0
    }
  }
}
