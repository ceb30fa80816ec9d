/// The head of a response, for clients, as positions in the bytes that were received.
///
/// The value is also the parser and is used like `RequestHead`.
public struct ResponseHead: Sendable {
  public private(set) var status = Status.ok
  /// Whether this is an HTTP/1.0 response; the server closes the connection after the body.
  public private(set) var isVersion10 = false
  public private(set) var table = HeaderTable()
  /// Whether the server closes the connection after this response.
  public private(set) var wantsClose = false
  /// The length of the head with its empty line, in bytes; 0 until the head is complete.
  public private(set) var length = 0

  private var framingFields = FramingFields()
  private var hasLine = false
  private var fieldParser = FieldParser()
  private var position = 0
  private var scanned = 0

  public init() {}

  public mutating func reset() { self = ResponseHead() }

  /// How the body of the response to a request with `method` ends (RFC 9112 section 6.3).
  public func framing(answering method: Method) -> BodyFraming {
    if status.forbidsBody || method == .head { return .none }
    if framingFields.isChunked { return .chunked }
    guard let length = framingFields.contentLength else { return .untilClose }
    return length == 0 ? .none : .length(length)
  }

  /// Continues to parse `bytes`, which must start with the first byte of the head.
  ///
  /// Returns the length of the head; nil if it is not complete yet.
  public mutating func parse(_ bytes: Span<UInt8>, limits: HeadLimits) throws(MessageError)
    -> Int?
  {
    if !hasLine {
      guard try parseLine(bytes, limits: limits) else { return nil }
      fieldParser = FieldParser(startingAt: position)
      hasLine = true
    }
    while true {
      switch try fieldParser.next(bytes, &position, limits: limits) {
      case .field(let field):
        guard table.fields.count < limits.count else { throw .tooManyFields }
        table.append(field)
        try framingFields.note(field, in: bytes)
      case .end:
        if framingFields.isChunked, isVersion10 { throw .transferEncodingInOldVersion }
        wantsClose = isVersion10 || framingFields.wantsClose
        length = position
        return position
      case .needsMore:
        return nil
      }
    }
  }

  /// Reads the status line after all of it has arrived.
  ///
  /// The line is short, and servers send it in one piece.
  private mutating func parseLine(_ bytes: Span<UInt8>, limits: HeadLimits) throws(MessageError)
    -> Bool
  {
    let stop = min(bytes.count, limits.line)
    while scanned < stop, bytes[scanned] != 0x0A { scanned &+= 1 }
    guard scanned < stop else {
      if scanned == limits.line { throw .statusLine }
      return false
    }
    let end = scanned &- 1
    // The line has the form `HTTP/1.1 200 REASON`. Some servers leave out the reason phrase, and even the space before
    // it.
    guard end >= 12, bytes[end] == 0x0D else { throw .statusLine }
    guard bytes.equal(ByteRange(0, 7), ignoringCase: "HTTP/1."), bytes[8] == 0x20,
      end == 12 || bytes[12] == 0x20
    else { throw .statusLine }
    guard bytes[7] == 0x31 || bytes[7] == 0x30 else { throw .version }
    isVersion10 = bytes[7] == 0x30
    var code: UInt16 = 0
    for index in 9..<12 {
      guard bytes[index].isDigit else { throw .statusLine }
      code = code &* 10 &+ UInt16(bytes[index] &- 0x30)
    }
    guard code >= 100 else { throw .statusLine }
    for index in 12..<end where !bytes[index].isFieldValue { throw .statusLine }
    status = Status(code)
    position = scanned &+ 1
    return true
  }
}
