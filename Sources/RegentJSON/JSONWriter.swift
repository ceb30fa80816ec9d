/// Writes JSON straight into a byte array, without building a JSONValue.
///
/// Use it for responses on hot paths.
///
///     let reply = JSONWriter.bytes { json in
///       json.object { json in
///         json.member("code", code)
///         json.array("providers") { json in
///           for provider in providers { json.value(provider) }
///         }
///       }
///     }
///
/// The writer adds commas, quotes and escapes.
///
/// The caller must write only members inside ``object(_:)`` and only values elsewhere; a value without a name inside an
/// object traps in a debug build.
///
/// JSON has no infinity and no NaN; they are written as `null`, as JavaScript does.
public struct JSONWriter: Sendable {
  /// The format of the JSON text.
  public struct Style: Sendable, Equatable {
    /// Whether the text has line breaks and two spaces for each level, for people.
    public var isPretty: Bool
    /// Whether `<`, `>` and `&` are escaped too, so that the text can be put into an HTML script element.
    public var isHTMLSafe: Bool

    public init(isPretty: Bool = false, isHTMLSafe: Bool = false) {
      self.isPretty = isPretty
      self.isHTMLSafe = isHTMLSafe
    }

    /// The text has no white space.
    public static let compact = Style()
    /// The text has line breaks and two spaces for each level.
    public static let pretty = Style(isPretty: true)
  }

  /// The text that has been written so far.
  public internal(set) var bytes: [UInt8]
  let style: Style
  private var level = 0
  private var needsComma = false
  private var afterName = false
  private var insideObject = false

  /// Makes a writer that appends to `bytes`, which may already contain data.
  public init(appendingTo bytes: consuming [UInt8] = [], style: Style = .compact) {
    self.bytes = bytes
    self.style = style
  }

  /// Runs `write` with a new writer and returns the bytes; `capacity` is an estimate of their number.
  public static func bytes(
    capacity: Int = 256, style: Style = .compact, _ write: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var writer = JSONWriter(style: style)
    writer.bytes.reserveCapacity(capacity)
    write(&writer)
    return writer.bytes
  }
}

// MARK: Containers

extension JSONWriter {
  /// Writes an object as a value; `members` writes its members.
  public mutating func object(_ members: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "{"), UInt8(ascii: "}"), isObject: true, members)
  }

  /// Writes an array as a value; `elements` writes its elements.
  public mutating func array(_ elements: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "["), UInt8(ascii: "]"), isObject: false, elements)
  }

  /// Writes a member whose value is an object.
  public mutating func object(_ name: String, _ members: (inout JSONWriter) -> Void) {
    self.name(name)
    object(members)
  }

  /// Writes a member whose value is an array.
  public mutating func array(_ name: String, _ elements: (inout JSONWriter) -> Void) {
    self.name(name)
    array(elements)
  }

  private mutating func container(
    _ open: UInt8, _ close: UInt8, isObject: Bool, _ body: (inout JSONWriter) -> Void
  ) {
    beginValue()
    bytes.append(open)
    let outer = insideObject
    insideObject = isObject
    needsComma = false
    level += 1
    body(&self)
    level -= 1
    if style.isPretty, needsComma { newLine() }
    bytes.append(close)
    needsComma = true
    insideObject = outer
  }

  /// Writes the name of a member; the next call writes its value.
  public mutating func name(_ name: String) {
    assert(insideObject && !afterName, "a name outside an object")
    separate()
    quoted(name)
    bytes.append(UInt8(ascii: ":"))
    if style.isPretty { bytes.append(UInt8(ascii: " ")) }
    afterName = true
  }

  /// Writes the comma and the line break that are needed before a value.
  mutating func beginValue() {
    if afterName {
      afterName = false
    } else {
      assert(!insideObject, "a value without a name inside an object")
      separate()
    }
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    if style.isPretty, level > 0 { newLine() }
    needsComma = true
  }

  private mutating func newLine() {
    bytes.append(UInt8(ascii: "\n"))
    for _ in 0..<level { bytes.append(contentsOf: [0x20, 0x20]) }
  }
}
