public import RegentHTTPCodec

/// One complete request: a small value over shared, never changing bytes.
///
/// It may be kept and sent anywhere.
public struct Request: Sendable {
  var storage: RequestStorage

  /// The address of the client: the peer's, unless a trusted proxy in front told another.
  ///
  /// Nil on a Unix socket.
  public var clientAddress: IPAddress?

  /// Whether the client's own connection is encrypted: this one, unless a trusted proxy in front told otherwise.
  public var isSecure: Bool

  /// The host a trusted proxy in front was asked for; nil means that ``authority`` counts.
  public var forwardedHost: HostAndPort?

  /// Whether the connection comes from a proxy that the settings name.
  public var isFromTrustedProxy = false

  /// Whether the request carries the headers of a proxy that the settings do not name.
  public var hasUndeclaredProxy: Bool { !isFromTrustedProxy && forwardedHeaders != ForwardedHeaders() }

  /// What the handler made of an earlier request on this connection, see ``Response/remembered``.
  public package(set) var remembered: (any AnyObject & Sendable)?

  /// The same request without what its connection remembers: for whoever keeps it.
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

  /// A request made by hand (for tests and in-process callers), read by the same parser as one from a socket.
  ///
  /// `head` is everything up to and with the empty line.
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

  /// The method; never TRACE or CONNECT, which the engine refuses.
  public var method: Method { storage.parsed.method }

  /// The request target exactly as sent.
  public var target: [UInt8] { bytes(storage.parsed.target) }

  /// The raw path, not percent-decoded; `*` for `OPTIONS *`, empty for a URL without a path.
  public var path: [UInt8] { bytes(storage.parsed.path) }

  /// The raw query without its `?`; nil when there is none.
  public var query: [UInt8]? { storage.parsed.query.map(bytes) }

  /// Host and port the client meant: of the URL when the target is one, else of Host.
  ///
  /// Only HTTP/1.0 may lack it.
  public var authority: String? { storage.parsed.authority.map(text) }

  /// The body, with chunks already put together.
  public var body: [UInt8] { storage.body }

  /// Who is at the other end of the connection.
  public var peer: Peer { storage.peer }

  /// Whether this connection is encrypted.
  public var isTLS: Bool { storage.isTLS }

  /// Whether there is a header with that name.
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

  /// The values of all headers with that name, in the order they came.
  public func headers(_ name: HeaderName) -> [String] {
    let head = storage.head
    return storage.parsed.table.all(name, in: head.span).map(text)
  }

  /// The bytes of the first header with that name.
  public func headerBytes(_ name: HeaderName) -> [UInt8]? {
    let head = storage.head
    return storage.parsed.table.first(name, in: head.span).map(bytes)
  }

  /// Lends the head and the bytes its ranges point into, for readers that want no copy.
  public func withHead<Result, Failure: Error>(
    _ read: (RequestHead, Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let head = storage.head
    return try read(storage.parsed, head.span)
  }

  /// Lends the body without a copy.
  public func withBody<Result, Failure: Error>(
    _ read: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let body = storage.body
    return try read(body.span)
  }

  private func bytes(_ range: ByteRange) -> [UInt8] { Array(storage.head[range.indices]) }

  private func text(_ range: ByteRange) -> String {
    String(decoding: storage.head[range.indices], as: UTF8.self)
  }
}

/// What a request is made of.
///
/// The engine fills it while nobody else has it, and uses it again only when it is once more the only owner.
///
/// `@unchecked Sendable`, because: 1. it is written by one loop only, before the handler gets it; 2. after that nobody
/// writes: `Request` has no setter that reaches it; 3. the loop takes it back only when `isKnownUniquelyReferenced`.
final class RequestStorage: @unchecked Sendable {
  /// What was read, in one value: whether a variable of an object is used twice at a time is checked at each look at
  /// it, and ending a request by its parts took five looks.
  private var message = Message()
  var peer = Peer.network(.loopback, port: 0)
  var isTLS = false
  /// How many bytes of a body with a length are still to come; nil for a chunked body.
  var missing: Int?
  var decoder = ChunkedDecoder(limit: 0)

  /// How much memory its bytes have.
  var capacity: Int { head.capacity + body.capacity }

  func reset() { message.reset() }

  /// Takes the beginning of a head; returns its length when it is complete, and how much was taken.
  func begin(_ part: Span<UInt8>, limits: HeadLimits) throws(MessageError) -> (length: Int?, taken: Int) {
    try message.begin(part, limits: limits)
  }

  var parsed: RequestHead {
    _read { yield message.parsed }
    _modify { yield &message.parsed }
  }
  /// The bytes of the head; while it is being read, as many as came so far.
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

    /// What is worth keeping between requests; a rare large request must not stay in memory.
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
