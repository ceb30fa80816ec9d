/// Limits how many combining marks may follow one another in a text of another program.
///
/// `==`, `<`, `hasPrefix` and the hash of a `String` compare normalised texts. Normalising sorts each run of combining
/// marks by insertion, so that a run of 32,000 marks (64 KB) costs a second. No language needs more than a few marks.
/// The limit is that of the Stream-Safe Text Format (UAX #15).
public struct CombiningMarks: Sendable {
  /// The maximum number of marks in a row.
  public static let longestRun = 30

  private var run = 0

  /// Starts before the first part of a text.
  public init() {}

  /// Reads the next part of a text, and returns whether a run of marks is too long.
  ///
  /// A run may begin in one part and go on in the next.
  public mutating func exceedLimit(after part: borrowing UTF8Span) -> Bool {
    // Fast path: validating the bytes has already found out whether they are ASCII.
    if part.isKnownASCII {
      if !part.isEmpty { run = 0 }
      return false
    }
    var scalars = part.makeUnicodeScalarIterator()
    while let scalar = scalars.next() {
      run = scalar.isCombiningMark ? run + 1 : 0
      if run > Self.longestRun { return true }
    }
    return false
  }
}

extension UTF8Span {
  /// Whether the text has more combining marks in a row than ``CombiningMarks`` allows.
  public var hasTooManyMarks: Bool {
    var marks = CombiningMarks()
    return marks.exceedLimit(after: self)
  }
}

extension String {
  /// Whether the text has more combining marks in a row than ``CombiningMarks`` allows.
  public var hasTooManyMarks: Bool { utf8Span.hasTooManyMarks }

  /// Whether both texts have the same bytes.
  ///
  /// `==` compares by canonical equivalence, which is slower and treats different bytes as equal.
  public func hasSameBytes(as other: String) -> Bool {
    let (ours, theirs) = (utf8.span, other.utf8.span)
    return ours.count == theirs.count && ours.has(theirs, from: 0)
  }
}

extension Unicode.Scalar {
  /// Whether normalising sorts the character within a run.
  fileprivate var isCombiningMark: Bool {
    // No character below U+0300 is a combining mark.
    guard value >= 0x300 else { return false }
    switch value {
    // These have the class 0, but they are decomposed into marks.
    case 0xF73, 0xF75, 0xF81: return true
    default: return properties.canonicalCombiningClass != .notReordered
    }
  }
}
