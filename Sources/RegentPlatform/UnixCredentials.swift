import CRegentLinux
import Glibc

/// The user, groups and process of a Unix socket's peer, as the kernel recorded them when it connected.
///
/// Decide only by user and groups: the process id may belong to another process by the time it is used.
public struct UnixCredentials: Equatable, Sendable {
  /// The process id, for logs only.
  public let process: Int32
  public let user: UInt32
  public let group: UInt32
  /// The ids of the other groups of the peer.
  public let supplementaryGroups: [UInt32]

  public init(process: Int32, user: UInt32, group: UInt32, supplementaryGroups: [UInt32] = []) {
    self.process = process
    self.user = user
    self.group = group
    self.supplementaryGroups = supplementaryGroups
  }

  /// Reads the credentials of a connected Unix socket's peer.
  ///
  /// Throws for any other descriptor.
  public init(peerOf socket: CInt) throws(SystemError) {
    var peer = regent_credentials()
    var length = socklen_t(MemoryLayout<regent_credentials>.size)
    try systemCall("ask for the peer of", on: "a Unix socket") {
      unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length)
    }
    // For a socket without credentials Linux reports process 0, and its user must not be trusted.
    guard peer.process != 0 else {
      throw SystemError(operation: "ask for the peer of", subject: "a Unix socket", code: ENOTCONN)
    }
    self.init(
      process: peer.process, user: peer.user, group: peer.group,
      supplementaryGroups: UnixCredentials.groups(ofPeer: socket))
  }

  /// Whether the peer is in a group, as primary or supplementary group.
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
      // The kernel is too old, or the peer has no other groups. Grant no group rights.
      guard code == ERANGE, count > groups.count, count <= 65_536 else { return [] }
      groups = [UInt32](repeating: 0, count: count)
    }
  }
}
