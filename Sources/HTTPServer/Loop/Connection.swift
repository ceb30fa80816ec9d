internal import RegentHTTPCodec
internal import RegentPlatform

/// One connection: its state and nothing that is only needed while bytes are in flight.
///
/// Its loop alone touches it.
///
/// Small on purpose (some 200 bytes): ten thousand devices wait here at a time. Buffers are lent by the loop.
final class Connection {
  enum Phase: UInt8 {
    /// TLS is being agreed.
    case handshake
    /// Between requests, or before the first.
    case idle
    /// Some bytes of a head are there.
    case head
    /// The head is complete, the body is not.
    case body
    /// A handler owes the reply.
    case handling
    /// Nothing more is sent; what the client still sends is read and dropped, so that it sees the last reply.
    case lingering
  }

  let descriptor: Int32
  /// The slot in the loop's table, and above it a generation, so that news for a predecessor is recognised.
  let id: UInt64
  let peer: Peer
  let service: ListenerService
  let tls: TLSSession?

  var phase = Phase.idle
  /// No byte of a reply was sent yet on this connection.
  var isFresh = true
  /// The connection ends when what is to be sent is sent.
  var isClosing = false
  /// It was closed because of a refusal: the client may still be sending.
  var mustLinger = false
  /// The request being answered was HEAD.
  var answersHead = false
  /// The request being answered asked for the end of the connection.
  var answersLast = false
  /// It waits in the loop's order for its next turn.
  var isQueued = false
  /// The socket may have more than was read of it, and epoll will not say so again.
  var mayHaveInput = false
  /// When it was served last, in rounds of the loop.
  var turnMark: UInt32 = 0
  /// What epoll watches for.
  var interest: Poller.Events = []
  /// How much was read and dropped while lingering.
  var dropped: Int32 = 0
  /// Whom it counts for, when there is a limit for such.
  let source: CountedSource?
  /// It counts for its source now.
  var isCounted: Bool
  /// How many bytes count for its source.
  var chargedBytes = 0
  /// How large the request is that a handler has.
  var requestBytes = 0

  /// The request being read.
  var storage: RequestStorage?
  /// What came after the request being answered.
  var unread: [UInt8] = []
  /// What the socket did not take yet.
  var outbound = Outbound()
  /// What the handler wants to see again with the next request.
  var remembered: (any AnyObject & Sendable)?
  /// The reply that is owed.
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
