internal import CRegentLinux
public import RegentHTTPCodec

/// The limits and deadlines of a server that its program may choose.
public struct ServerConfiguration: Sendable {
  /// How many event loops (threads) serve connections; by default one per core this process may use.
  public var loops = ServerConfiguration.usableCores
  /// How large a request head may be.
  public var head = HeadLimits()
  /// How large a request body may be, in bytes.
  public var bodyBytes = 256 * 1024
  /// How many connections there may be in all; one more is answered with 503 and closed.
  ///
  /// When there are nearly so many, connections that only wait for a next request are closed to make room.
  public var connections = 20_000
  /// How many connections one source (IPv4 address, IPv6 /64) may have that never completed a valid request, or have a
  /// request or a reply unfinished.
  ///
  /// Others are not counted, so that many TVs behind one address work.
  public var unprovenConnectionsPerSource = 512
  /// How many bytes may be buffered in all: unfinished requests, requests being answered, replies that are not read.
  ///
  /// The first 4 KiB of each connection are not counted. A source may have as many as are free beside it, so that
  /// something is left for the next however many fill it; what is beyond is answered with 503 and closed.
  public var bufferedBytes = 64 * 1024 * 1024
  /// Whether connections from an address count for the limit per source; a trusted proxy's do not.
  public var countsSource: @Sendable (IPAddress) -> Bool = { _ in true }
  /// The users of this machine who may take every place of a Unix socket; `nil` when all may.
  ///
  /// Any other user may have a quarter of the connections, and all others together three quarters: whoever may connect
  /// cannot keep these out.
  public var favouredUsers: Set<UInt32>?
  /// The users and groups that the settings name; `nil` when no user is more expected than another.
  ///
  /// All other users together may have a quarter of the connections, however many numbers one of them has: a range of
  /// `/etc/subuid` is 65,536 users. Members of a named group share a quarter before they count as other users.
  public var namedUsers: NamedUsers?
  /// How many pipelined requests of one connection are answered before others get their turn.
  public var pipelinedRequestsPerTurn = 32
  public var deadlines = Deadlines()
  /// What every reply carries besides what its handler says.
  public var standingHeaders = StandingHeaders()
  /// Makes the engine's own answer, with its status and sentence, to what is not a valid request or came too late.
  public var refusal: @Sendable (Status, String) -> Response = { .text($0, $1 + "\n") }
  /// The same to a request whose head was read, by its raw path; `nil` leaves it to the one before.
  public var refusalAtPath: (@Sendable (Status, [UInt8]) -> Response?)?

  /// The default limits and deadlines.
  public init() {}

  /// What a Unix socket for several users needs.
  ///
  /// Root and its owner always get in, and connections that say nothing go soon: who is on this machine says at once
  /// what he wants.
  public mutating func favour(rootAnd owner: UInt32) {
    favouredUsers = [0, owner]
    deadlines.header = .seconds(3)
    deadlines.body = .seconds(10)
  }

  var connectionsPerUser: Int { max(1, connections / 4) }
  var connectionsOfUsers: Int { max(1, connections / 4 * 3) }

  /// How many connections below the limit idle ones begin to be closed, so that a new one is seldom turned away.
  var connectionHeadroom: Int { connections / 64 }

  private static var usableCores: Int { Int(regent_usable_cores()) }
}

/// How long things may take.
///
/// All are total times, not times of silence: a byte a second keeps nobody alive.
public struct Deadlines: Sendable, Hashable {
  /// From a request's first byte (or the connection's start, TLS handshake included) to the end of its head.
  public var header = Duration.seconds(10)
  /// From the end of the head to the end of the body.
  public var body = Duration.seconds(30)
  /// From the request to the handler's reply; then the client gets 503 and the handler is told.
  public var reply = Duration.seconds(120)
  /// From the first byte of a reply that did not go out at once to its last.
  public var write = Duration.seconds(30)
  /// Between a reply and the next request's first byte.
  public var idle = Duration.seconds(75)
  /// How long what a refused client still sends is read, so that it sees the reply instead of a reset.
  public var lingering = Duration.seconds(2)

  public init() {}
}

/// Users and groups of this machine.
public struct NamedUsers: Sendable, Equatable {
  public var users: Set<UInt32>
  public var groups: Set<UInt32>

  public init(users: Set<UInt32>, groups: Set<UInt32>) {
    self.users = users
    self.groups = groups
  }
}
