// Parses the field lines of requests, responses and trailers. It can stop after any byte and continue with the next.

/// The position of the parser in the grammar of a header field line.
enum FieldState: UInt8 {
  case lineStart, name, beforeValue, value, valueEnd, lastLineEnd, done
}

/// What the parser of field lines has found in one step.
enum FieldEvent {
  case field(HeaderField)
  case end
  case needsMore
}

/// Reads field lines from a growing buffer.
///
/// `position` is the next byte to read, so no byte is read twice.
struct FieldParser {
  private(set) var state = FieldState.lineStart
  private var sectionStart = 0
  private var nameStart = 0
  private var nameEnd = 0
  private var valueStart = 0

  /// Starts a section of field lines at `position`.
  init(startingAt position: Int = 0) { sectionStart = position }

  /// Reads from `position` to the end of the next field line or of the section.
  @inline(__always)
  mutating func next(_ bytes: Span<UInt8>, _ position: inout Int, limits: HeadLimits)
    throws(MessageError) -> FieldEvent
  {
    // The parser never reads past the limit, so that the result does not depend on how the bytes were split into reads.
    let stop = min(bytes.count, sectionStart &+ limits.fields)
    var at = position
    defer { position = at }
    while at < stop {
      let byte = bytes[at]
      switch state {
      case .lineStart:
        if byte == 0x0D {
          state = .lastLineEnd
        } else if byte.isToken {
          nameStart = at
          state = .name
        } else {
          throw byte == 0x20 || byte == 0x09
            ? .foldedLine : byte == 0x0A ? .lineEnding : .fieldName
        }
        at &+= 1
      case .name:
        while at < stop, bytes[at].isToken { at &+= 1 }
        guard at < stop else { break }
        guard bytes[at] == 0x3A else { throw .fieldName }
        nameEnd = at
        at &+= 1
        state = .beforeValue
      case .beforeValue:
        if byte == 0x20 || byte == 0x09 {
          at &+= 1
        } else {
          valueStart = at
          state = .value
        }
      case .value:
        at = bytes.endOfFieldValue(from: at, to: stop)
        guard at < stop else { break }
        guard bytes[at] == 0x0D else { throw bytes[at] == 0x0A ? .lineEnding : .fieldValue }
        at &+= 1
        state = .valueEnd
      case .valueEnd:
        guard byte == 0x0A else { throw .lineEnding }
        var end = at &- 1
        while end > valueStart, bytes[end &- 1] == 0x20 || bytes[end &- 1] == 0x09 { end &-= 1 }
        at &+= 1
        state = .lineStart
        return .field(
          HeaderField(name: ByteRange(nameStart, nameEnd), value: ByteRange(valueStart, end)))
      case .lastLineEnd:
        guard byte == 0x0A else { throw .lineEnding }
        at &+= 1
        state = .done
        return .end
      case .done:
        return .end
      }
    }
    if at == sectionStart &+ limits.fields { throw .fieldsTooLarge }
    return .needsMore
  }
}

extension Span<UInt8> {
  /// The position of the first byte that a field value may not contain.
  ///
  /// The check takes eight bytes at a time, because most of a head is field values.
  @inline(__always)
  fileprivate func endOfFieldValue(from start: Int, to stop: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var at = start
    while stop &- at >= 8 {
      let word = UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self))
      let deleted = word ^ (0x7F &* ones)
      // Only the lowest set bit is reliable: the subtractions may carry into the bytes above it.
      let found = ((word &- 0x20 &* ones) & ~word | (deleted &- ones) & ~deleted) & (0x80 &* ones)
      guard found != 0 else {
        at &+= 8
        continue
      }
      at &+= found.trailingZeroBitCount >> 3
      guard self[at] == 0x09 else { return at }
      at &+= 1
    }
    while at < stop, self[at].isFieldValue { at &+= 1 }
    return at
  }
}
