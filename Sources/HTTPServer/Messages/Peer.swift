public import RegentHTTPCodec

/// Who is at the other end of a connection.
public enum Peer: Sendable, Hashable {
  /// A TCP peer.
  case network(IPAddress, port: UInt16)
  /// A process on this machine, connected to a Unix socket.
  case local(Credentials)

  /// The address of a TCP peer.
  public var address: IPAddress? {
    if case .network(let address, _) = self { address } else { nil }
  }

  /// The process of a Unix peer.
  public var credentials: Credentials? {
    if case .local(let credentials) = self { credentials } else { nil }
  }
}

/// The process that connected to a Unix socket, as the kernel noted it at connect (SO_PEERCRED, SO_PEERGROUPS).
public struct Credentials: Sendable, Hashable {
  /// Process id.
  public let process: Int32
  /// Effective user id.
  public let user: UInt32
  /// Effective group id.
  public let group: UInt32
  /// The other groups that the process was in.
  public let supplementaryGroups: [UInt32]

  /// Credentials from their numbers.
  public init(
    process: Int32, user: UInt32, group: UInt32, supplementaryGroups: [UInt32] = []
  ) {
    self.process = process
    self.user = user
    self.group = group
    self.supplementaryGroups = supplementaryGroups
  }

  /// Whether the process was in a group, primary or not.
  public func isMember(of id: UInt32) -> Bool {
    group == id || supplementaryGroups.contains(id)
  }
}

extension Peer: CustomStringConvertible {
  /// Address and port, or process and user.
  public var description: String {
    switch self {
    case .network(let address, let port):
      address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    case .local(let who): "process \(who.process) of user \(who.user)"
    }
  }
}
