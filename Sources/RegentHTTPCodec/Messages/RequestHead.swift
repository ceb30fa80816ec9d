/// The head of a request as positions in the bytes that were received.
///
/// The value is also the parser: `parse` may be called again with more bytes of the same head and continues where it
/// stopped. It allocates only the table of fields, and `reset` keeps that table's capacity.
public struct RequestHead: Sendable {
  public private(set) var method = Method.get
  /// Whether this is an HTTP/1.0 request; the server closes the connection after the response.
  public private(set) var isVersion10 = false
  /// The request target as it was sent.
  public private(set) var target = ByteRange(0, 0)
  /// The encoded path: empty for a URL without a path, `*` for `OPTIONS *`.
  public private(set) var path = ByteRange(0, 0)
  /// The encoded query without its `?`; nil if there is no `?`.
  public private(set) var query: ByteRange?
  /// Host and port: from the target if that is a URL, otherwise from the Host header.
  public private(set) var authority: ByteRange?
  public private(set) var table = HeaderTable()
  public private(set) var framing = BodyFraming.none
  /// Whether the connection ends after the response, because the client sent `Connection: close` or uses HTTP/1.0.
  public private(set) var wantsClose = false
  /// Whether the client waits for `100 Continue` before it sends the body.
  public private(set) var expectsContinue = false
  /// The length of the head with its empty line, in bytes; 0 until the head is complete.
  public private(set) var length = 0

  private var state = LineState.start
  private var position = 0
  private var lineStart = 0
  private var targetStart = 0
  private var queryMark = 0
  /// Up to eight bytes of the method or the HTTP version as a big-endian number.
  private var packed: UInt64 = 0
  private var packedCount = 0
  private var fieldParser = FieldParser()
  private var framingFields = FramingFields()
  private var sawHost = false
  private var sawURL = false

  public init() {}

  /// Prepares the parser for the next head, and keeps the capacity of the table of fields.
  public mutating func reset() {
    var kept = HeaderTable()
    swap(&kept, &table)
    kept.removeAll()
    self = RequestHead()
    table = kept
  }

  /// Continues to parse `bytes`, which must start with the first byte of the head.
  ///
  /// Returns the length of the head; nil if it is not complete yet.
  public mutating func parse(_ bytes: Span<UInt8>, limits: HeadLimits) throws(MessageError)
    -> Int?
  {
    if state != .fields {
      guard try parseLine(bytes, limits: limits) else { return nil }
      fieldParser = FieldParser(startingAt: position)
      state = .fields
    }
    while true {
      switch try fieldParser.next(bytes, &position, limits: limits) {
      case .field(let field):
        guard table.fields.count < limits.count else { throw .tooManyFields }
        table.append(field)
        try note(field, in: bytes)
      case .end:
        try finish()
        length = position
        return position
      case .needsMore:
        return nil
      }
    }
  }
}

/// How the receiver finds the end of a body.
public enum BodyFraming: Sendable, Hashable {
  case none
  /// The body of the message has this number of bytes.
  case length(Int)
  /// The body of the message is chunked (RFC 9112 section 7.1).
  case chunked
  /// The body ends when the server closes the connection (responses only).
  case untilClose
}

// MARK: - The request line

extension RequestHead {
  private enum LineState: UInt8 {
    case start, emptyLineEnd, method, target, version, lineEnd, lastLineEnd, fields
  }

  /// Reads the request line; returns whether it is complete.
  private mutating func parseLine(_ bytes: Span<UInt8>, limits: HeadLimits) throws(MessageError)
    -> Bool
  {
    // The parser never reads past the limit, so that the result does not depend on how the bytes were split into reads.
    var stop = min(bytes.count, lineStart &+ limits.line)
    var at = position
    defer { position = at }
    while at < stop {
      let byte = bytes[at]
      switch state {
      case .start:
        // One empty line before a request is skipped, because old clients send one after a body (RFC 9112 section 2.2).
        guard byte == 0x0D, lineStart == 0 else {
          state = .method
          continue
        }
        at &+= 1
        state = .emptyLineEnd
      case .emptyLineEnd:
        guard byte == 0x0A else { throw .lineEnding }
        at &+= 1
        lineStart = at
        stop = min(bytes.count, lineStart &+ limits.line)
        state = .start
      case .method:
        at &+= 1
        if byte.isToken {
          guard packedCount < Method.longestToken else { throw .method }
          gather(byte)
        } else {
          guard byte == 0x20, packedCount > 0 else { throw .requestLine }
          try readMethod()
          targetStart = at
          state = .target
        }
      case .target:
        try scanTarget(bytes, &at, stop)
        guard at < stop else { break }
        // A request line that ends after the target is HTTP/0.9, which has no headers and therefore no host.
        guard bytes[at] == 0x20 else {
          throw bytes[at] == 0x0D || bytes[at] == 0x0A ? .requestLine : .target
        }
        try readTarget(bytes, end: at)
        at &+= 1
        state = .version
      case .version:
        guard byte > 0x20 else { throw .requestLine }
        at &+= 1
        gather(byte)
        guard packedCount == 8 else { continue }
        try readVersion()
        state = .lineEnd
      case .lineEnd:
        guard byte == 0x0D else { throw byte == 0x0A ? .lineEnding : .requestLine }
        at &+= 1
        state = .lastLineEnd
      case .lastLineEnd:
        guard byte == 0x0A else { throw .lineEnding }
        at &+= 1
        return true
      case .fields:
        return true
      }
    }
    if at == lineStart &+ limits.line { throw .targetTooLong }
    return false
  }

  @inline(__always)
  private mutating func gather(_ byte: UInt8) {
    packed = packed << 8 | UInt64(byte)
    packedCount &+= 1
  }

  private mutating func readMethod() throws(MessageError) {
    // CONNECT asks for a tunnel, which only proxies provide.
    guard let known = Method(packed: packed), known != .connect else { throw .method }
    method = known
    packed = 0
    packedCount = 0
  }

  private func readVersionDigits() -> Bool {
    packed >> 24 == 0x48_5454_502F && UInt8(truncatingIfNeeded: packed >> 16).isDigit
      && UInt8(truncatingIfNeeded: packed >> 8) == 0x2E && UInt8(truncatingIfNeeded: packed).isDigit
  }

  private mutating func readVersion() throws(MessageError) {
    switch packed {
    case 0x4854_5450_2F31_2E31: isVersion10 = false
    case 0x4854_5450_2F31_2E30: isVersion10 = true
    default: throw readVersionDigits() ? .version : .requestLine
    }
    wantsClose = isVersion10
  }
}

// MARK: - The target

extension RequestHead {
  /// Skips the allowed characters of a target and stores the position of the first `?`.
  @inline(__always)
  private mutating func scanTarget(_ bytes: Span<UInt8>, _ at: inout Int, _ stop: Int)
    throws(MessageError)
  {
    if queryMark == 0 {
      while at < stop, bytes[at].isPath { at &+= 1 }
      // Brackets occur only in the host of a URL, as in `http://[::1]/`.
      while at < stop, bytes[at] == 0x5B || bytes[at] == 0x5D || bytes[at].isPath {
        guard bytes[targetStart] != 0x2F else { throw .target }
        at &+= 1
      }
      if at < stop, bytes[at] == 0x3F { queryMark = at }
    }
    if queryMark > 0 { while at < stop, bytes[at].isQuery { at &+= 1 } }
  }

  private mutating func readTarget(_ bytes: Span<UInt8>, end: Int) throws(MessageError) {
    guard end > targetStart else { throw .requestLine }
    target = ByteRange(targetStart, end)
    let pathEnd = queryMark > 0 ? queryMark : end
    if queryMark > 0 { query = ByteRange(queryMark &+ 1, end) }
    if bytes[targetStart] == 0x2F {
      path = ByteRange(targetStart, pathEnd)
    } else if bytes[targetStart] == 0x2A {
      guard end == targetStart &+ 1, method == .options else { throw .target }
      path = target
    } else {
      try readURL(bytes, pathEnd: pathEnd)
    }
  }

  private mutating func readURL(_ bytes: Span<UInt8>, pathEnd: Int) throws(MessageError) {
    var start = targetStart
    if bytes.equal(ByteRange(start, min(start &+ 7, pathEnd)), ignoringCase: "http://") {
      start &+= 7
    } else if bytes.equal(ByteRange(start, min(start &+ 8, pathEnd)), ignoringCase: "https://") {
      start &+= 8
    } else {
      throw .target
    }
    var end = start
    while end < pathEnd, bytes[end] != 0x2F { end &+= 1 }
    let part = ByteRange(start, end)
    guard bytes.isAuthority(part) else { throw .host }
    authority = part
    sawURL = true
    for index in end..<pathEnd where !bytes[index].isPath { throw .target }
    path = ByteRange(end, pathEnd)
  }
}

// MARK: - Header fields

extension RequestHead {
  /// Handles a field that the parser needs itself.
  ///
  /// Other fields are only stored in the table.
  @inline(__always)
  private mutating func note(_ field: HeaderField, in bytes: Span<UInt8>) throws(MessageError) {
    switch field.name.count {
    case 4 where bytes.equal(field.name, ignoringCase: "host"):
      guard !sawHost else { throw .repeatedHost }
      guard bytes.isAuthority(field.value) else { throw .host }
      sawHost = true
      // RFC 9112 section 3.2.2: the host of a URL takes precedence over the Host header.
      if !sawURL { authority = field.value }
    case 6 where bytes.equal(field.name, ignoringCase: "expect"):
      guard !isVersion10 else { break }
      guard bytes.equal(field.value, ignoringCase: "100-continue") else { throw .expectation }
      expectsContinue = true
    case 10, 14, 17:
      try framingFields.note(field, in: bytes)
    default:
      break
    }
  }

  private mutating func finish() throws(MessageError) {
    guard sawHost || isVersion10 else { throw .missingHost }
    if framingFields.isChunked, isVersion10 { throw .transferEncodingInOldVersion }
    if framingFields.isChunked {
      framing = .chunked
    } else if let length = framingFields.contentLength, length > 0 {
      framing = .length(length)
    }
    if framing == .none { expectsContinue = false }
    if framingFields.wantsClose { wantsClose = true }
  }
}
