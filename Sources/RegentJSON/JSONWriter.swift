/// Writes JSON straight into bytes, without a tree: for replies on hot paths.
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
/// Commas, quotes and escapes are the writer's business. The caller sees to it that inside ``object(_:)`` only
/// members are written and elsewhere only values; a value without a name inside an object stops a debug build.
///
/// A number that is infinite or NaN, which JSON cannot say, is written as `null`, as JavaScript does.
public struct JSONWriter: Sendable {
  /// How the text looks.
  public struct Style: Sendable, Equatable {
    /// Line breaks and two spaces per level, for people.
    public var isPretty: Bool
    /// Escapes `<`, `>` and `&` as well, so that the text can stand inside an HTML script element.
    public var isHTMLSafe: Bool

    /// A style; compact and not for HTML unless said otherwise.
    public init(isPretty: Bool = false, isHTMLSafe: Bool = false) {
      self.isPretty = isPretty
      self.isHTMLSafe = isHTMLSafe
    }

    /// No spaces at all.
    public static let compact = Style()
    /// Line breaks and two spaces per level.
    public static let pretty = Style(isPretty: true)
  }

  /// What has been written so far.
  public internal(set) var bytes: [UInt8]
  let style: Style
  private var level = 0
  private var needsComma = false
  private var afterName = false
  private var insideObject = false

  /// A writer that appends to `bytes`, which may hold something else already.
  public init(appendingTo bytes: consuming [UInt8] = [], style: Style = .compact) {
    self.bytes = bytes
    self.style = style
  }

  /// What `write` writes, as bytes; `capacity` is a guess of how many.
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
  /// An object as a value; `members` writes its members.
  public mutating func object(_ members: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "{"), UInt8(ascii: "}"), isObject: true, members)
  }

  /// An array as a value; `elements` writes its elements.
  public mutating func array(_ elements: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "["), UInt8(ascii: "]"), isObject: false, elements)
  }

  /// A member that is an object.
  public mutating func object(_ name: String, _ members: (inout JSONWriter) -> Void) {
    self.name(name)
    object(members)
  }

  /// A member that is an array.
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

  /// The name of the member whose value is written next.
  public mutating func name(_ name: String) {
    assert(insideObject && !afterName, "a name outside an object")
    separate()
    quoted(name)
    bytes.append(UInt8(ascii: ":"))
    if style.isPretty { bytes.append(UInt8(ascii: " ")) }
    afterName = true
  }

  /// What every value begins with.
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
