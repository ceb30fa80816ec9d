/// Writes the members of a document, as JSON or as XML.
///
/// Texts and numbers are JSON strings and JSON numbers. In XML both become the text of an element.
public protocol DocumentSink {
  /// The format that is written, for the few members that differ between JSON and XML.
  static var format: WireFormat { get }
  mutating func text(_ name: String, _ value: String)
  mutating func number(_ name: String, _ value: Int64)
  mutating func flag(_ name: String, _ value: Bool)
  /// Writes a member as `null` in JSON, and nothing in XML.
  mutating func null(_ name: String)
  /// Writes a member whose value is a nested object.
  mutating func object(_ name: String, _ members: (inout Self) -> Void)
  /// Writes a list of texts.
  ///
  /// In XML the elements of the list are named `item`.
  mutating func texts(_ name: String, item: String, _ values: [String])
  /// Writes a list of objects.
  ///
  /// In XML the elements of the list are named `item`.
  mutating func objects<Element>(
    _ name: String, item: String, _ elements: [Element], _ members: (inout Self, Element) -> Void)
}

extension DocumentSink {
  /// Writes a text member, or nothing if the value is `nil`.
  public mutating func text(_ name: String, ifKnown value: String?) {
    if let value { text(name, value) }
  }

  /// Writes a text member.
  ///
  /// If the value is `nil`, writes `null` in JSON and nothing in XML.
  public mutating func text(_ name: String, orNull value: String?) {
    if let value { text(name, value) } else { null(name) }
  }
}

/// A request or response body of the protocol.
public protocol WireDocument: Sendable {
  static var root: XMLRoot { get }
  func write(to sink: inout some DocumentSink)
}

/// The root element of an XML document.
public struct XMLRoot: Hashable, Sendable {
  /// The root element's name, including a namespace prefix.
  public let name: String
  /// The attribute of the root element that declares the namespace of the prefix.
  public let declaration: String?

  public init(_ name: String, declaration: String? = nil) {
    self.name = name
    self.declaration = declaration
  }
}

extension WireDocument {
  public func bytes(as format: WireFormat) -> [UInt8] {
    switch format {
    case .json:
      var sink = JSONSink()
      sink.write(self)
      return sink.bytes
    case .xml:
      var sink = XMLSink()
      sink.write(self)
      return sink.bytes
    }
  }
}
