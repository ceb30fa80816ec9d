/// The head of a response, for clients: status line and field lines as positions into the bytes they came in.
///
/// A value of this type is also the parser, used like `RequestHead`.
public struct ResponseHead: Sendable {
  public private(set) var status = Status.ok
  /// Whether the response says HTTP/1.0; its connection ends with the body.
  public private(set) var isVersion10 = false
  /// The field lines.
  public private(set) var table = HeaderTable()
  /// Whether the connection ends with this response.
  public private(set) var wantsClose = false
  /// The number of bytes of the head with its empty line; 0 until it is complete.
  public private(set) var length = 0

  private var framingFields = FramingFields()
  private var hasLine = false
  private var fieldParser = FieldParser()
  private var position = 0
  private var scanned = 0

  public init() {}

  /// Makes it ready for the next head.
  public mutating func reset() { self = ResponseHead() }

  /// How the body of the response to a request with `method` is framed (RFC 9112 section 6.3).
  public func framing(answering method: Method) -> BodyFraming {
    if status.forbidsBody || method == .head { return .none }
    if framingFields.isChunked { return .chunked }
    guard let length = framingFields.contentLength else { return .untilClose }
    return length == 0 ? .none : .length(length)
  }

  /// Reads on in `bytes`, which starts with the first byte of the head.
  ///
  /// Returns the length of the complete head, or nil.
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

  /// Waits for the whole line (it is short and sent in one piece), then reads it.
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
    // HTTP/1.1 SP 200 SP, with the reason and even the space before it left out by some servers.
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
