internal import RegentHTTPCodec
internal import RegentPlatform

/// The state of one connection, without the buffers that are needed only while bytes are in flight.
///
/// Only its loop uses it. It has only about 200 bytes, because ten thousand devices may wait at the same time. The loop
/// lends the buffers.
final class Connection {
  enum Phase: UInt8 {
    /// The client and the server are still in the TLS handshake.
    case handshake
    /// The connection is between two requests, or before the first.
    case idle
    /// A part of the head of a request has arrived.
    case head
    /// The head of the request is complete, and its body is not.
    case body
    /// The handler has the request and has not completed the reply.
    case handling
    /// The server sends nothing more.
    ///
    /// It reads and drops the bytes that the client still sends, so that the client receives the last response.
    case lingering
  }

  let descriptor: Int32
  /// The connection's slot in the loop's table in the low 32 bits, and a generation number above.
  ///
  /// An event or message for an earlier connection in the same slot has another generation number.
  let id: UInt64
  let peer: Peer
  let service: ListenerService
  let tls: TLSSession?

  var phase = Phase.idle
  /// Whether the client has not sent a valid request on this connection yet.
  var isFresh = true
  /// Whether the server closes the connection when all output is sent.
  var isClosing = false
  /// Whether the server refused a request, so that the client may still be sending.
  var mustLinger = false
  /// Whether the current request uses the method HEAD, so that the response has no body.
  var answersHead = false
  /// Whether the client wants the connection to close after the current request.
  var answersLast = false
  /// Whether the connection waits in the event loop's queue to be served.
  var isQueued = false
  /// Whether the socket may have more input that epoll, which is edge-triggered, will not report again.
  var mayHaveInput = false
  /// The round of the event loop in which the connection was served last.
  var turnMark: UInt32 = 0
  /// The events of the socket that epoll reports.
  var interest: Poller.Events = []
  /// The number of bytes that were read and dropped while lingering.
  var dropped: Int32 = 0
  /// The source for which the connection counts; nil if no limit applies.
  let source: CountedSource?
  /// Whether the connection currently counts for its source (the client's address or user).
  var isCounted: Bool
  /// The number of buffered bytes that are counted for the connection's source.
  var chargedBytes = 0
  /// The memory of the request that the handler has, in bytes.
  var requestBytes = 0

  /// The request that is being read.
  var storage: RequestStorage?
  /// Input after the current request, which is parsed when that was answered.
  var unread: [UInt8] = []
  /// The output that the socket's buffer had no room for yet.
  var outbound = Outbound()
  /// The object that the handler gets again with the next request; see ``Response/remembered``.
  var remembered: (any AnyObject & Sendable)?
  /// The ticket of the request that the handler has and whose reply is not complete; nil if there is none.
  var ticket: ReplyTicket?

  init(
    descriptor: Int32, id: UInt64, peer: Peer, service: ListenerService, tls: TLSSession?,
    source: CountedSource?
  ) {
    self.descriptor = descriptor
    self.id = id
    self.peer = peer
    self.service = service
    self.tls = tls
    self.source = source
    isCounted = source != nil
    phase = tls == nil ? .idle : .handshake
  }

  var slot: Int { Int(id & 0xFFFF_FFFF) }
  var hasOutbound: Bool { !outbound.isEmpty }
}
