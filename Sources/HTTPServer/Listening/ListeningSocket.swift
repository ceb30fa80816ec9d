internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform

/// A listening socket; closing it removes the file of a Unix socket.
final class ListeningSocket: Sendable {
  let descriptor: Int32
  /// The address on which the socket listens, with the port that the kernel chose.
  let address: ListenAddress
  private let file: FileIdentity?

  /// Binds the socket and listens.
  ///
  /// Throws `addressInUse` if another process accepts connections on that address.
  init(_ wanted: ListenAddress) throws(ServerError) {
    switch wanted {
    case .network(let host, let port):
      (descriptor, address) = try listenTCP(host, port)
      file = nil
    case .local(let path, let mode, let group):
      (descriptor, file) = try listenUnix(path, mode: mode, group: group)
      address = wanted
    case .inherited(let number):
      try takeOver(number, wanted)
      descriptor = number
      // The service manager owns the file of the socket and keeps listening when this program ends.
      file = nil
      address = wanted
    }
  }

  /// Stops listening.
  ///
  /// Before that, removes the file of a Unix socket, unless another program has replaced the file.
  func close() {
    if case .local(let path, _, _) = address, let file, FileIdentity(path) == file {
      unsafe unlink(path)
    }
    // Closing alone does not stop the kernel from accepting while a child process that is being started still has a
    // copy of the descriptor. No process would serve those connections.
    if case .inherited = address {} else { shutdown(descriptor, Int32(SHUT_RDWR)) }
    Glibc.close(descriptor)
  }
}

/// Tells a file from another one with the same path.
struct FileIdentity: Equatable, Sendable {
  let device: dev_t
  let node: ino_t
  let isSocket: Bool

  init?(_ path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    device = status.st_dev
    node = status.st_ino
    isSocket = status.st_mode & S_IFMT == S_IFSOCK
  }
}

/// The maximum number of connections that wait to be accepted.
private let backlog: Int32 = 4096

// MARK: - TCP

private func listenTCP(_ host: IPAddress, _ port: UInt16) throws(ServerError) -> (
  Int32, ListenAddress
) {
  let wanted = ListenAddress.network(host, port: port)
  // SO_REUSEADDR, which allows a quick restart, would also let two servers use the same port. So check first whether a
  // server already accepts connections.
  if port != 0, probe(host, port) { throw .addressInUse(wanted) }
  let descriptor = try newSocket(host.isIPv4 ? AF_INET : AF_INET6, wanted)
  do throws(ServerError) {
    var on: Int32 = 1
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, 4)
    // Accepted sockets inherit TCP_NODELAY: the kernel sends a response at once and does not wait for the
    // acknowledgement of earlier packets.
    unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    // Accepted sockets inherit TCP_NOTSENT_LOWAT, which limits how much the kernel stores of a response that the client
    // has not read. Without this limit, two thousand clients that read a large response byte by byte use up the memory
    // that the kernel has for all of TCP, and no other client is served.
    var unsent: Int32 = 64 * 1024
    unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &unsent, 4)
    if !host.isIPv4 {
      // An unspecified IPv6 address also accepts IPv4; other IPv6 addresses accept only themselves.
      var only: Int32 = host.isUnspecified ? 0 : 1
      unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, 4)
    }
    let address = SocketAddress(host, port)
    try listening(wanted) { unsafe address.withPointer { unsafe bind(descriptor, $0, $1) } }
    try listening(wanted) { listen(descriptor, backlog) }
    var bound = SocketAddress()
    try listening(wanted) { unsafe bound.fill { unsafe getsockname(descriptor, $0, $1) } }
    guard case .network(_, let picked)? = bound.peer else { throw listenError(wanted, EAFNOSUPPORT) }
    return (descriptor, .network(host, port: picked))
  } catch {
    Glibc.close(descriptor)
    throw error
  }
}

/// Whether a process accepts connections on that TCP address.
private func probe(_ host: IPAddress, _ port: UInt16) -> Bool {
  let target = host.isUnspecified ? IPAddress.loopback : host
  let type =
    Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    | Int32(SOCK_NONBLOCK.rawValue)
  let descriptor = socket(target.isIPv4 ? AF_INET : AF_INET6, type, 0)
  guard descriptor >= 0 else { return false }
  defer { Glibc.close(descriptor) }
  let code = attemptToConnect(descriptor, SocketAddress(target, port))
  if code != 0 {
    guard code == EINPROGRESS else { return false }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&waiting, 1, 1000) == 1 else { return false }
    var failure: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length)
    guard failure == 0 else { return false }
  }
  // If the port is in the ephemeral range, a connecting socket can get that port and connect to itself.
  var own = SocketAddress()
  _ = unsafe own.fill { unsafe getsockname(descriptor, $0, $1) }
  return own.peer != .network(target, port: port)
}

// MARK: - Unix sockets

private func listenUnix(_ path: String, mode: UInt32, group: UInt32?) throws(ServerError) -> (
  Int32, FileIdentity?
) {
  let wanted = ListenAddress.local(path: path, mode: mode, group: group)
  guard let address = try? SocketAddress(unixPath: path) else {
    throw .cannotListen(wanted, reason: "the path is longer than 107 bytes or has a NUL")
  }
  if let existing = FileIdentity(path) {
    guard existing.isSocket else { throw .notASocket(path: path) }
    let probe = try newSocket(AF_UNIX, wanted)
    defer { Glibc.close(probe) }
    let code = attemptToConnect(probe, address)
    // ECONNREFUSED means that the server of this file has ended. After any other error the file may belong to a running
    // server.
    if code == 0 || code == EAGAIN { throw .addressInUse(wanted) }
    guard code == ECONNREFUSED else { throw listenError(wanted, code) }
    // Another program has replaced the socket's file in the meantime, so the file must not be removed.
    guard FileIdentity(path) == existing else { throw .addressInUse(wanted) }
    try listening(wanted) { unsafe unlink(path) }
  }
  let descriptor = try newSocket(AF_UNIX, wanted)
  do throws(ServerError) {
    // The mode is set before bind, so that the socket's file never exists with wider permissions, not even for a
    // moment.
    try listening(wanted) { fchmod(descriptor, 0o600) }
    try listening(wanted) { unsafe address.withPointer { unsafe bind(descriptor, $0, $1) } }
    if let group { try give(path, to: group, wanted) }
    try listening(wanted) { unsafe chmod(path, mode & 0o777) }
    try listening(wanted) { listen(descriptor, backlog) }
    return (descriptor, FileIdentity(path))
  } catch {
    Glibc.close(descriptor)
    throw error
  }
}

/// Gives the file of the socket to `group`.
///
/// Does nothing if it already belongs to that group, because a sandbox may forbid chown.
private func give(_ path: String, to group: UInt32, _ wanted: ListenAddress) throws(ServerError) {
  var status = stat()
  if unsafe lstat(path, &status) == 0, status.st_gid == group { return }
  let (result, code) = attempt { Int(unsafe lchown(path, uid_t.max, group)) }
  guard result == 0 else {
    let hint = "it cannot be given to its group (systemd: set Group= of the unit to that group)"
    throw .cannotListen(wanted, reason: "\(reasonText(of: code)): \(hint)")
  }
}

/// Checks that a descriptor is a listening socket, and makes accept non-blocking.
private func takeOver(_ number: Int32, _ wanted: ListenAddress) throws(ServerError) {
  var listens: Int32 = 0
  var length = socklen_t(MemoryLayout<Int32>.size)
  guard unsafe getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0, listens == 1
  else { throw .cannotListen(wanted, reason: "it is not a listening socket") }
  let flags = try listening(wanted) { fcntl(number, F_GETFL) }
  try listening(wanted) { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
  try listening(wanted) { fcntl(number, F_SETFD, FD_CLOEXEC) }
}

private func newSocket(_ family: Int32, _ wanted: ListenAddress) throws(ServerError) -> Int32 {
  let type =
    Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    | Int32(SOCK_NONBLOCK.rawValue)
  return try listening(wanted) { socket(family, type, 0) }
}

/// Makes one system call while the listening socket is created, and throws its error as a `ServerError`.
@discardableResult
private func listening(_ wanted: ListenAddress, _ call: () -> Int32) throws(ServerError) -> Int32 {
  do throws(SystemError) {
    return try systemCall("listen", call)
  } catch {
    throw listenError(wanted, error.code)
  }
}

/// The error code of connect, or 0 if the connection was made at once.
private func attemptToConnect(_ descriptor: Int32, _ address: SocketAddress) -> Int32 {
  attempt { unsafe address.withPointer { unsafe connect(descriptor, $0, $1) } }.code
}

private func listenError(_ wanted: ListenAddress, _ code: Int32) -> ServerError {
  code == EADDRINUSE ? .addressInUse(wanted) : .cannotListen(wanted, reason: reasonText(of: code))
}
