public import RegentHTTPCodec

/// The client or proxy at the other end of a connection.
public enum Peer: Sendable, Hashable {
  case network(IPAddress, port: UInt16)
  /// A process on this machine that connected to a Unix socket.
  case local(Credentials)

  /// The address of a TCP peer; nil for a Unix socket.
  public var address: IPAddress? {
    if case .network(let address, _) = self { address } else { nil }
  }

  /// The process of a Unix socket peer; nil for TCP.
  public var credentials: Credentials? {
    if case .local(let credentials) = self { credentials } else { nil }
  }
}

/// The process that connected to a Unix socket, as the kernel recorded it at connect (SO_PEERCRED, SO_PEERGROUPS).
public struct Credentials: Sendable, Hashable {
  public let process: Int32
  public let user: UInt32
  public let group: UInt32
  public let supplementaryGroups: [UInt32]

  public init(
    process: Int32, user: UInt32, group: UInt32, supplementaryGroups: [UInt32] = []
  ) {
    self.process = process
    self.user = user
    self.group = group
    self.supplementaryGroups = supplementaryGroups
  }

  /// Whether the group is the primary or a supplementary group of the process.
  public func isMember(of id: UInt32) -> Bool {
    group == id || supplementaryGroups.contains(id)
  }
}

extension Peer: CustomStringConvertible {
  public var description: String {
    switch self {
    case .network(let address, let port):
      address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    case .local(let who): "process \(who.process) of user \(who.user)"
    }
  }
}
