/// A range of bytes inside a message head.
public struct ByteRange: Sendable, Hashable {
  /// The position of the first byte, counted from the start of the head.
  public let start: UInt16
  /// The position after the last byte of the range.
  public let end: UInt16

  @inline(__always)
  public init(_ start: Int, _ end: Int) {
    self.start = UInt16(truncatingIfNeeded: start)
    self.end = UInt16(truncatingIfNeeded: end)
  }

  public var count: Int { Int(end) - Int(start) }
  public var isEmpty: Bool { start == end }
  /// The positions as a range of `Int`.
  public var indices: Range<Int> { Int(start)..<Int(end) }
}

/// The positions of a header field's name and of its value without surrounding white space.
public struct HeaderField: Sendable, Hashable {
  public let name: ByteRange
  public let value: ByteRange
}

/// The field lines of a head as positions in its bytes, so that no name or value is copied.
public struct HeaderTable: Sendable {
  /// The fields in the order in which they were sent.
  public private(set) var fields: [HeaderField] = []

  public init() {}

  /// The value of the first field with this name; `bytes` must be the head from which the table was made.
  public func first(_ name: HeaderName, in bytes: Span<UInt8>) -> ByteRange? {
    let wanted = name.text.utf8.span
    for field in fields where bytes.equal(field.name, ignoringCase: wanted) { return field.value }
    return nil
  }

  /// The value of the first field with this name, and whether there is a second one.
  public func single(_ name: HeaderName, in bytes: Span<UInt8>) -> (value: ByteRange?, isRepeated: Bool) {
    let wanted = name.text.utf8.span
    var value: ByteRange?
    for field in fields where bytes.equal(field.name, ignoringCase: wanted) {
      if value != nil { return (value, true) }
      value = field.value
    }
    return (value, false)
  }

  /// The values of all fields with this name, in the order in which they were sent.
  public func all(_ name: HeaderName, in bytes: Span<UInt8>) -> [ByteRange] {
    let wanted = name.text.utf8.span
    var found: [ByteRange] = []
    for field in fields where bytes.equal(field.name, ignoringCase: wanted) {
      found.append(field.value)
    }
    return found
  }

  @inline(__always)
  mutating func append(_ field: HeaderField) { fields.append(field) }

  mutating func removeAll() { fields.removeAll(keepingCapacity: true) }
}

extension Span<UInt8> {
  /// Whether the bytes of the range equal `text` without regard to ASCII case.
  func equal(_ range: ByteRange, ignoringCase text: Span<UInt8>) -> Bool {
    guard range.count == text.count else { return false }
    let start = Int(range.start)
    for index in text.indices where self[start &+ index].lowered != text[index].lowered {
      return false
    }
    return true
  }

  /// Whether the bytes of the range equal `text` without regard to ASCII case.
  func equal(_ range: ByteRange, ignoringCase text: String) -> Bool {
    equal(range, ignoringCase: text.utf8.span)
  }
}
