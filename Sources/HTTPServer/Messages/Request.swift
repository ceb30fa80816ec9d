internal import RegentEncodings
public import RegentHTTPCodec

/// One complete request: a small value that refers to shared, immutable bytes.
///
/// It may be stored and passed to any thread.
public struct Request: Sendable {
  var storage: RequestStorage

  /// The address of the client: that of the peer, or the one that a trusted proxy reported.
  ///
  /// Nil on a Unix socket.
  public var clientAddress: IPAddress?

  /// Whether the client's connection is encrypted: this connection, or the connection to a trusted proxy as that proxy
  /// reported it.
  public var isSecure: Bool

  /// The host that the client requested, as a trusted proxy reported it; if nil, use ``authority``.
  public var forwardedHost: HostAndPort?

  /// Whether the connection comes from a proxy that the settings name as trusted.
  public var isFromTrustedProxy = false

  /// Whether the request has the headers of a proxy that the settings do not name.
  public var hasUndeclaredProxy: Bool { !isFromTrustedProxy && forwardedHeaders != ForwardedHeaders() }

  /// The object that the handler stored with an earlier response on this connection, see ``Response/remembered``.
  public package(set) var remembered: (any AnyObject & Sendable)?

  /// The request without ``remembered``, for code that stores the request for longer.
  public var forgetting: Request {
    var request = self
    request.remembered = nil
    return request
  }

  init(storage: RequestStorage, remembered: (any AnyObject & Sendable)? = nil) {
    self.storage = storage
    self.remembered = remembered
    clientAddress = storage.peer.address
    isSecure = storage.isTLS
  }

  /// Makes a request for tests and in-process callers, with the parser that also reads requests from a socket.
  ///
  /// `head` must end with the empty line.
  public init(
    head: [UInt8], body: [UInt8] = [], peer: Peer = .network(.loopback, port: 1),
    isTLS: Bool = false, limits: HeadLimits = HeadLimits()
  ) throws(MessageError) {
    let storage = RequestStorage()
    storage.head = head
    guard try storage.parsed.parse(head.span, limits: limits) == head.count else {
      throw .requestLine
    }
    storage.body = body
    storage.peer = peer
    storage.isTLS = isTLS
    self.init(storage: storage)
  }

  /// The method of the request.
  ///
  /// The server itself refuses TRACE and CONNECT.
  public var method: Method { storage.parsed.method }

  /// The request target as it was sent.
  public var target: [UInt8] { bytes(storage.parsed.target) }

  /// The percent-encoded path; `*` for `OPTIONS *`, empty for a URL without a path.
  public var path: [UInt8] { bytes(storage.parsed.path) }

  /// The encoded query without its `?`; nil if there is none.
  public var query: [UInt8]? { storage.parsed.query.map(bytes) }

  /// Host and port of the request: from the target if that is a URL, otherwise from the Host header.
  ///
  /// Nil only for an HTTP/1.0 request without a Host header.
  public var authority: String? { storage.parsed.authority.map(text) }

  /// The body of the request, with chunks already decoded.
  public var body: [UInt8] { storage.body }

  public var peer: Peer { storage.peer }

  public var isTLS: Bool { storage.isTLS }

  public func hasHeader(_ name: HeaderName) -> Bool {
    let head = storage.head
    return storage.parsed.table.first(name, in: head.span) != nil
  }

  /// The value of the first header with that name.
  ///
  /// Bytes that are not UTF-8 become U+FFFD.
  public func header(_ name: HeaderName) -> String? {
    let head = storage.head
    return storage.parsed.table.first(name, in: head.span).map(text)
  }

  /// The values of all headers with that name, in the order in which they were sent.
  public func headers(_ name: HeaderName) -> [String] {
    let head = storage.head
    return storage.parsed.table.all(name, in: head.span).map(text)
  }

  /// The bytes of the first header with that name.
  public func headerBytes(_ name: HeaderName) -> [UInt8]? {
    let head = storage.head
    return storage.parsed.table.first(name, in: head.span).map(bytes)
  }

  /// Calls `read` with the parsed head and the bytes to which its ranges refer, without copying them.
  public func withHead<Result, Failure: Error>(
    _ read: (RequestHead, Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let head = storage.head
    return try read(storage.parsed, head.span)
  }

  /// Calls `read` with the body, without copying it.
  public func withBody<Result, Failure: Error>(
    _ read: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let body = storage.body
    return try read(body.span)
  }

  private func bytes(_ range: ByteRange) -> [UInt8] { Array(storage.head[range.indices]) }

  /// A header's value; the replacement character if it has too many combining marks in a row.
  private func text(_ range: ByteRange) -> String {
    let text = String(decoding: storage.head[range.indices], as: UTF8.self)
    return text.hasTooManyMarks ? "\u{FFFD}" : text
  }
}

/// The bytes of a request and its parser.
///
/// The loop fills it while no other object refers to it, and uses it again only when it is the sole owner.
///
/// `@unchecked Sendable`, because: 1. only one loop writes it, before the handler gets it; 2. after that no code
/// writes: `Request` has no setter that reaches it; 3. the loop uses it again only if `isKnownUniquelyReferenced`.
final class RequestStorage: @unchecked Sendable {
  /// The parts of the message are in one struct.
  ///
  /// Swift checks exclusive access at each use of a class's variable, and resetting separate variables took five such
  /// checks.
  private var message = Message()
  var peer = Peer.network(.loopback, port: 0)
  var isTLS = false
  /// The number of body bytes that are still missing; nil for a chunked body.
  var missing: Int?
  var decoder = ChunkedDecoder(limit: 0)

  /// The memory of the request's buffers in bytes.
  var capacity: Int { head.capacity + body.capacity }

  func reset() { message.reset() }

  /// Parses the beginning of a head; returns the length of the head if it is complete, and the number of bytes that
  /// were parsed.
  func begin(_ part: Span<UInt8>, limits: HeadLimits) throws(MessageError) -> (length: Int?, taken: Int) {
    try message.begin(part, limits: limits)
  }

  var parsed: RequestHead {
    _read { yield message.parsed }
    _modify { yield &message.parsed }
  }
  /// The bytes of the head.
  ///
  /// While the head is incomplete, these are the bytes that have arrived.
  var head: [UInt8] {
    _read { yield message.head }
    _modify { yield &message.head }
  }
  var body: [UInt8] {
    _read { yield message.body }
    _modify { yield &message.body }
  }
}

extension RequestStorage {
  private struct Message {
    var parsed = RequestHead()
    var head: [UInt8] = []
    var body: [UInt8] = []

    /// The maximum capacity of a buffer that is kept for the next request.
    ///
    /// A rare large request needs more, and its memory is freed.
    private static let keptBytes = 16384

    mutating func begin(_ part: Span<UInt8>, limits: HeadLimits) throws(MessageError) -> (length: Int?, taken: Int) {
      let length = try parsed.parse(part, limits: limits)
      let taken = length ?? part.count
      head.append(span: part, 0..<taken)
      return (length, taken)
    }

    mutating func reset() {
      parsed.reset()
      if head.capacity > Self.keptBytes { head = [] }
      if body.capacity > Self.keptBytes { body = [] }
      head.removeAll(keepingCapacity: true)
      body.removeAll(keepingCapacity: true)
    }
  }
}
