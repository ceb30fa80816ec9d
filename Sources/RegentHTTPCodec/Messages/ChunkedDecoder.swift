/// Decodes a chunked body (RFC 9112 section 7.1) from pieces of any size, and refuses every deviation from the grammar.
///
/// Chunk extensions and trailer fields are checked and ignored.
public struct ChunkedDecoder: Sendable {
  /// The maximum length of the decoded body in bytes.
  ///
  /// A longer body throws `bodyTooLarge`.
  public let limit: Int
  /// The number of body bytes that were decoded so far.
  public private(set) var decoded = 0
  /// Whether the body and its trailer section are complete.
  public private(set) var isComplete = false

  private var state = ChunkedDecoderState.firstDigit
  private var remaining = 0
  private var digits = 0
  private var extensionBytes = 0
  private var lineExtension = ChunkExtension()
  private var trailer: [UInt8] = []
  private var trailerParser = FieldParser()
  private var trailerPosition = 0
  private var trailerCount = 0

  private enum ChunkedDecoderState: UInt8 {
    case firstDigit, size, sizeExtension, sizeEnd, data, dataReturn, dataEnd, trailer
  }

  /// The maximum length of all extensions of one body in bytes.
  ///
  /// No client needs them, but an attacker could send them without end.
  private static let extensionLimit = 4096
  private static let trailerLimits = HeadLimits(line: 64, fields: 8192, count: 32)

  public init(limit: Int) { self.limit = limit }

  /// Decodes `bytes` from `position` on and appends the body bytes to `body`.
  ///
  /// Returns the position after the last byte that was decoded: the end of `bytes`, or the first byte after the body if
  /// `isComplete`.
  public mutating func decode(
    _ bytes: Span<UInt8>, from position: Int = 0, into body: inout [UInt8]
  )
    throws(MessageError) -> Int
  {
    var at = position
    while at < bytes.count, !isComplete {
      let byte = bytes[at]
      switch state {
      case .firstDigit, .size: try readSize(byte)
      case .sizeExtension: try readExtension(byte)
      case .sizeEnd:
        guard byte == 0x0A else { throw .chunkSize }
        state = remaining == 0 ? .trailer : .data
      case .data:
        let taken = min(remaining, bytes.count &- at)
        body.append(span: bytes, at..<(at &+ taken))
        decoded &+= taken
        remaining &-= taken
        at &+= taken
        if remaining == 0 { state = .dataReturn }
        continue
      case .dataReturn:
        guard byte == 0x0D else { throw .chunkEnding }
        state = .dataEnd
      case .dataEnd:
        guard byte == 0x0A else { throw .chunkEnding }
        state = .firstDigit
      case .trailer: try readTrailer(byte)
      }
      at &+= 1
    }
    return at
  }
}

extension ChunkedDecoder {
  private mutating func readSize(_ byte: UInt8) throws(MessageError) {
    if let digit = byte.hexValue {
      if state == .firstDigit {
        remaining = 0
        digits = 0
        state = .size
      }
      // A size of fifteen digits cannot overflow an Int, and exceeds every limit.
      guard digits < 15 else { throw .chunkSize }
      digits &+= 1
      remaining = remaining << 4 | Int(digit)
      return
    }
    guard state == .size else { throw .chunkSize }
    guard remaining <= limit &- decoded else { throw .bodyTooLarge }
    switch byte {
    case 0x0D: state = .sizeEnd
    case 0x3B, 0x20, 0x09:
      state = .sizeExtension
      lineExtension = ChunkExtension()
      try readExtension(byte)
    default: throw .chunkSize
    }
  }

  private mutating func readExtension(_ byte: UInt8) throws(MessageError) {
    extensionBytes &+= 1
    guard extensionBytes <= ChunkedDecoder.extensionLimit else { throw .chunkExtension }
    if try lineExtension.endsLine(at: byte) { state = .sizeEnd }
  }

  private mutating func readTrailer(_ byte: UInt8) throws(MessageError) {
    trailer.append(byte)
    let soFar = trailer
    guard
      let event = try? trailerParser.next(
        soFar.span, &trailerPosition, limits: ChunkedDecoder.trailerLimits)
    else { throw .trailer }
    switch event {
    case .field:
      trailerCount += 1
      guard trailerCount <= ChunkedDecoder.trailerLimits.count else { throw .trailer }
    case .end: isComplete = true
    case .needsMore: break
    }
    if isComplete { trailer = [] }
  }
}

extension [UInt8] {
  /// Appends a part of a span to the array with one copy.
  @inline(__always)
  public mutating func append(span: Span<UInt8>, _ range: Range<Int>) {
    let part = span.extracting(range)
    unsafe part.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
