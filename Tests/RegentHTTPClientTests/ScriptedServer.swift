import Glibc
import RegentHTTPClient
import RegentPlatform
import Synchronization
import TestSupport

/// A server that runs a script of the test on each connection, valid HTTP or not.
///
/// Each connection has its own thread.
final class ScriptedServer: Sendable {
  let url: String
  let port: UInt16
  private let listener: Int32
  private let accepted = Atomic<Int>(0)

  /// How many connections were accepted.
  var connections: Int { accepted.load(ordering: .acquiring) }

  /// Listens on the loopback address or on a Unix socket.
  init(
    unixPath: String? = nil, ipv6Port: UInt16? = nil, backlog: Int32 = 128,
    _ script: @escaping @Sendable (_ number: Int, Connection) -> Void
  ) throws {
    let family = ipv6Port != nil ? AF_INET6 : unixPath == nil ? AF_INET : AF_UNIX
    let listener = socket(family, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    let address =
      try ipv6Port.map { SocketAddress(ipv6: (0, 1), port: $0) }
      ?? unixPath.map { try SocketAddress(unixPath: $0) } ?? loopback(port: 0)
    guard listener >= 0, unsafe address.withPointer({ unsafe bind(listener, $0, $1) }) == 0,
      listen(listener, backlog) == 0
    else { throw TestSupportError("cannot listen: errno \(errno)") }
    self.listener = listener
    var bound = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &bound) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe getsockname(listener, $0, &length)
      }
    }
    port = unixPath == nil ? UInt16(bigEndian: bound.sin_port) : 0
    url = "http://127.0.0.1:\(port)"
    // The thread keeps the server alive until `stop`. Most tests use the server last for its address, and Swift would
    // release it then.
    try DedicatedThread.start(named: "scripted") { [self] in
      while true {
        let number = accept(listener, nil, nil)
        guard number >= 0 else { return }
        let index = accepted.add(1, ordering: .acquiringAndReleasing).newValue
        _ = try? DedicatedThread.start(named: "connection") {
          let connection = Connection(number)
          script(index, connection)
          connection.close()
        }
      }
    }
  }

  /// Replies to the first request of every connection with the same bytes and then closes it.
  convenience init(answering bytes: String) throws {
    try self.init { _, connection in
      connection.readRequest()
      connection.send(bytes)
    }
  }

  /// Ends listening; clients are refused from now on.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  deinit { Glibc.close(listener) }
}

/// An IPv4 port whose accept queue is full: the kernel drops further connection attempts and refuses none.
final class FullQueue: Sendable {
  let port: UInt16
  private let sockets: [Int32]

  init() throws {
    func newSocket() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0) }
    let listener = newSocket()
    guard listener >= 0, try unsafe loopback(port: 0).withPointer({ unsafe bind(listener, $0, $1) }) == 0,
      listen(listener, 0) == 0
    else { throw TestSupportError("cannot listen: errno \(errno)") }
    var own = SocketAddress()
    _ = unsafe own.fill { unsafe getsockname(listener, $0, $1) }
    port = own.ipv4?.port ?? 0
    let place = try loopback(port: port)
    sockets =
      [listener]
      + (0..<4).map { _ in
        let waiting = newSocket()
        _ = unsafe place.withPointer { unsafe connect(waiting, $0, $1) }
        return waiting
      }
  }

  deinit { for number in sockets { Glibc.close(number) } }
}

final class Connection: Sendable {
  private let number: Int32
  private let isOpen = Atomic(true)

  init(_ number: Int32) { self.number = number }

  /// Reads one request with its body.
  ///
  /// Empty if the client has closed the connection.
  @discardableResult
  func readRequest() -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard unsafe recv(number, &byte, 1, 0) == 1 else { return "" }
      bytes.append(byte)
    }
    let head = String(decoding: bytes, as: UTF8.self)
    let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
      .flatMap { Int($0.dropFirst(16)) }
    for _ in 0..<(length ?? 0) {
      guard unsafe recv(number, &byte, 1, 0) == 1 else { break }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Sends all bytes; false if the client has closed the connection.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          number, $0.baseAddress?.advanced(by: done), bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Blocks until the client closes the connection.
  func waitForEnd() {
    var byte: UInt8 = 0
    while unsafe recv(number, &byte, 1, 0) > 0 {}
  }

  /// Copies bytes between this connection and a loopback port until one side closes.
  func tunnel(toPort port: UInt16) {
    let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    defer { Glibc.close(other) }
    guard let address = try? loopback(port: port),
      unsafe address.withPointer({ unsafe connect(other, $0, $1) }) == 0
    else { return }
    var waiting = [
      pollfd(fd: number, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
    ]
    var bytes = [UInt8](repeating: 0, count: 16_384)
    while unsafe poll(&waiting, 2, -1) > 0 {
      for (from, to) in [(0, other), (1, number)] where waiting[from].revents != 0 {
        let count = unsafe recv(waiting[from].fd, &bytes, bytes.count, 0)
        guard count > 0, unsafe Glibc.send(to, bytes, count, Int32(MSG_NOSIGNAL)) == count else { return }
      }
    }
  }

  /// Closes the connection with a reset instead of an orderly shutdown.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    close()
  }

  func close() {
    if isOpen.exchange(false, ordering: .acquiringAndReleasing) { Glibc.close(number) }
  }
}

private func loopback(port: UInt16) throws -> SocketAddress {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  address.sin_port = port.bigEndian
  let copy = unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe SocketAddress(copying: $0, length: socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  guard let copy else { throw TestSupportError("no address") }
  return copy
}

func makeClient(_ change: (inout ClientConfiguration) -> Void = { _ in }) -> Client {
  var configuration = ClientConfiguration(wallClock: { Clocks.wallMilliseconds() })
  // With a sanitizer on a busy machine, ten minutes may pass between two lines of a test.
  configuration.keepAlive = .seconds(86_400)
  configuration.freshness = .seconds(86_400)
  change(&configuration)
  return Client(configuration)
}

func outcome(
  _ client: Client, _ request: ClientRequest
) async -> Result<ClientResponse, ClientError> {
  do throws(ClientError) {
    return .success(try await client.send(request))
  } catch {
    return .failure(error)
  }
}

extension Result where Failure == ClientError {
  var failureKind: ClientError.Kind? {
    guard case .failure(let error) = self else { return nil }
    return error.kind
  }
}
