import CRegentLinux
import Glibc

/// Who is at the other end of a Unix socket, as the kernel wrote it down at connect time.
///
/// Decide by user and groups only: a process id may belong to another process by the time it is looked at.
public struct UnixCredentials: Equatable, Sendable {
  /// The process, for logs.
  public let process: Int32
  public let user: UInt32
  /// The primary group.
  public let group: UInt32
  /// The other groups.
  public let supplementaryGroups: [UInt32]

  /// Credentials of known values.
  public init(process: Int32, user: UInt32, group: UInt32, supplementaryGroups: [UInt32] = []) {
    self.process = process
    self.user = user
    self.group = group
    self.supplementaryGroups = supplementaryGroups
  }

  /// The credentials of a connected Unix socket's peer.
  ///
  /// - Parameter socket: the socket's number.
  /// - Throws: `SystemError` when it is not a connected Unix socket.
  public init(peerOf socket: CInt) throws(SystemError) {
    var peer = regent_credentials()
    var length = socklen_t(MemoryLayout<regent_credentials>.size)
    try systemCall("ask for the peer of", on: "a Unix socket") {
      unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length)
    }
    // Linux reports a socket without credentials as pid 0; treating that as root would be a gift.
    guard peer.process != 0 else {
      throw SystemError(operation: "ask for the peer of", subject: "a Unix socket", code: ENOTCONN)
    }
    self.init(
      process: peer.process, user: peer.user, group: peer.group,
      supplementaryGroups: UnixCredentials.groups(ofPeer: socket))
  }

  /// Whether the peer is in a group, primary or not.
  ///
  /// - Parameter id: the group's number.
  /// - Returns: true for the primary group and any other of the peer.
  public func isMember(of id: UInt32) -> Bool {
    group == id || supplementaryGroups.contains(id)
  }

  private static func groups(ofPeer socket: CInt) -> [UInt32] {
    let SO_PEERGROUPS: CInt = 59
    var groups = [UInt32](repeating: 0, count: 64)
    while true {
      var length = socklen_t(groups.count * MemoryLayout<UInt32>.size)
      let code = attempt { unsafe getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) }.code
      let count = Int(length) / MemoryLayout<UInt32>.size
      if code == 0 { return Array(groups.prefix(count)) }
      // An older kernel, or no groups: nothing is granted on a guess.
      guard code == ERANGE, count > groups.count, count <= 65_536 else { return [] }
      groups = [UInt32](repeating: 0, count: count)
    }
  }
}
