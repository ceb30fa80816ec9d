/// A stretch of bytes inside a message head.
public struct ByteRange: Sendable, Hashable {
  /// Where it starts, counted from the first byte of the head.
  public let start: UInt16
  /// Where it ends (one past the last byte).
  public let end: UInt16

  /// The stretch from `start` up to `end`.
  @inline(__always)
  public init(_ start: Int, _ end: Int) {
    self.start = UInt16(truncatingIfNeeded: start)
    self.end = UInt16(truncatingIfNeeded: end)
  }

  /// The number of bytes.
  public var count: Int { Int(end) - Int(start) }
  /// Whether there is no byte.
  public var isEmpty: Bool { start == end }
  /// The same as a range of integers.
  public var indices: Range<Int> { Int(start)..<Int(end) }
}

/// Where one header field's name and value are; white space around the value is already cut.
public struct HeaderField: Sendable, Hashable {
  public let name: ByteRange
  /// The value, perhaps empty.
  public let value: ByteRange
}

/// The field lines of a head as positions into its bytes: no copy of any name or value.
public struct HeaderTable: Sendable {
  /// The fields in the order they came.
  public private(set) var fields: [HeaderField] = []

  public init() {}

  /// The value of the first field with that name; `bytes` are the head the table was made from.
  public func first(_ name: HeaderName, in bytes: Span<UInt8>) -> ByteRange? {
    let wanted = name.text.utf8.span
    for field in fields where bytes.equal(field.name, ignoringCase: wanted) { return field.value }
    return nil
  }

  /// The value of the first field with that name, and whether there is another one.
  public func single(_ name: HeaderName, in bytes: Span<UInt8>) -> (value: ByteRange?, isRepeated: Bool) {
    let wanted = name.text.utf8.span
    var value: ByteRange?
    for field in fields where bytes.equal(field.name, ignoringCase: wanted) {
      if value != nil { return (value, true) }
      value = field.value
    }
    return (value, false)
  }

  /// The values of every field with that name, in the order they came.
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
  /// Whether the stretch spells `text`, whatever the capitals of either.
  func equal(_ range: ByteRange, ignoringCase text: Span<UInt8>) -> Bool {
    guard range.count == text.count else { return false }
    let start = Int(range.start)
    for index in text.indices where self[start &+ index].lowered != text[index].lowered {
      return false
    }
    return true
  }

  /// Whether the stretch spells `text`, whatever the capitals of either.
  func equal(_ range: ByteRange, ignoringCase text: String) -> Bool {
    equal(range, ignoringCase: text.utf8.span)
  }
}
