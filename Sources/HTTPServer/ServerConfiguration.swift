internal import CRegentLinux
public import RegentHTTPCodec

/// The limits and deadlines of a server.
public struct ServerConfiguration: Sendable {
  /// The number of event loops, which are threads; the default is the number of cores that this process may use.
  public var loops = ServerConfiguration.usableCores
  /// The maximum size of the head of a request.
  public var head = HeadLimits()
  /// The maximum length of a request body in bytes.
  public var bodyBytes = 256 * 1024
  /// The maximum number of connections; a further one gets a 503 and is closed.
  ///
  /// Shortly before the limit, idle connections are closed to make room.
  public var connections = 20_000
  /// The maximum number of connections of one source (an IPv4 address or IPv6 /64) that have not sent a valid request
  /// yet, or have an unfinished request or response.
  ///
  /// Other connections do not count, so that many TVs can share one address.
  public var unprovenConnectionsPerSource = 512
  /// The maximum number of buffered bytes of all connections: incomplete requests, requests being handled, and unread
  /// responses.
  ///
  /// The first 4 KiB of each connection are not counted. A source may use at most as many bytes as remain free, so that
  /// something is left for the next source. A connection that exceeds the limit gets a 503 and is closed.
  public var bufferedBytes = 64 * 1024 * 1024
  /// Whether connections from an address count for the limits per source.
  ///
  /// Connections from trusted proxies do not.
  public var countsSource: @Sendable (IPAddress) -> Bool = { _ in true }
  /// The users of this machine who may use all connections of a Unix socket; nil if every user may.
  ///
  /// Each other user may have a quarter of the connections, and all others together three quarters, so that they cannot
  /// lock out the favoured users.
  public var favouredUsers: Set<UInt32>?
  /// The users and groups that the settings name; nil treats all users alike.
  ///
  /// All other users together may have a quarter of the connections, because one user may control many user ids: a
  /// range in `/etc/subuid` has 65,536. The members of a named group share another quarter before they count as other
  /// users.
  public var namedUsers: NamedUsers?
  /// The number of pipelined requests of one connection that are answered before other connections are served.
  public var pipelinedRequestsPerTurn = 32
  public var deadlines = Deadlines()
  /// The headers that every response has.
  public var standingHeaders = CommonHeaders()
  /// Makes the server's own response, from a status and a sentence, to a request that is invalid or exceeds a deadline.
  public var refusal: @Sendable (Status, String) -> Response = { .text($0, $1 + "\n") }
  /// Makes the server's own response to an invalid request whose path is known, from a status and the encoded path.
  ///
  /// If it returns nil, `refusal` is used.
  public var refusalAtPath: (@Sendable (Status, [UInt8]) -> Response?)?

  public init() {}

  /// Sets the limits for a Unix socket that several users may use.
  ///
  /// Root and the owner always get a connection. The deadlines are short, because a local program sends its request at
  /// once.
  public mutating func favour(rootAnd owner: UInt32) {
    favouredUsers = [0, owner]
    deadlines.header = .seconds(3)
    deadlines.body = .seconds(10)
  }

  var connectionsPerUser: Int { max(1, connections / 4) }
  var connectionsOfUsers: Int { max(1, connections / 4 * 3) }

  /// How far below the connection limit the server starts to close idle connections, so that it seldom has to refuse
  /// new ones.
  var connectionHeadroom: Int { connections / 64 }

  private static var usableCores: Int { Int(regent_usable_cores()) }
}

/// The time limits of a server.
///
/// All are limits of the total time, not of silence: sending one byte a second does not extend them.
public struct Deadlines: Sendable, Hashable {
  /// The time limit from the first byte of a request, or the start of the connection with its TLS handshake, to the end
  /// of the head.
  public var header = Duration.seconds(10)
  /// The time limit from the end of a request's head to the end of its body.
  public var body = Duration.seconds(30)
  /// The time limit from the request to the handler's reply.
  ///
  /// After that, the client gets a 503 and the handler is told.
  public var reply = Duration.seconds(120)
  /// The time limit of sending a response that the socket did not take at once.
  public var write = Duration.seconds(30)
  /// The time limit between a response and the first byte of the next request.
  public var idle = Duration.seconds(75)
  /// The time for which the server still reads from a refused client, so that the client gets the response and not a
  /// reset.
  public var lingering = Duration.seconds(2)

  public init() {}
}

public struct NamedUsers: Sendable, Equatable {
  public var users: Set<UInt32>
  public var groups: Set<UInt32>

  public init(users: Set<UInt32>, groups: Set<UInt32>) {
    self.users = users
    self.groups = groups
  }
}
