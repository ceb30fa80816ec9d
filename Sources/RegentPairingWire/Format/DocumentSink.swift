/// Where a document writes its members: the same calls make JSON and XML.
///
/// Names and types are those of the protocol: a number is a JSON number, a text a JSON string, and in XML both are
/// element text.
public protocol DocumentSink {
  /// Which form this is, for the few members that differ.
  static var format: WireFormat { get }
  /// A text.
  mutating func text(_ name: String, _ value: String)
  /// A number.
  mutating func number(_ name: String, _ value: Int64)
  /// A truth value.
  mutating func flag(_ name: String, _ value: Bool)
  /// A member that is there and has no value: `null` in JSON, left out in XML.
  mutating func null(_ name: String)
  /// Members one level down.
  mutating func object(_ name: String, _ members: (inout Self) -> Void)
  /// A list of texts; `item` names its elements in XML.
  mutating func texts(_ name: String, item: String, _ values: [String])
  /// A list of objects; `item` names its elements in XML.
  mutating func objects<Element>(
    _ name: String, item: String, _ elements: [Element], _ members: (inout Self, Element) -> Void)
}

extension DocumentSink {
  /// A text, left out when there is none.
  public mutating func text(_ name: String, ifKnown value: String?) {
    if let value { text(name, value) }
  }

  /// A text, `null` in JSON when there is none.
  public mutating func text(_ name: String, orNull value: String?) {
    if let value { text(name, value) } else { null(name) }
  }
}

/// A document of the protocol.
public protocol WireDocument: Sendable {
  /// The root element in XML, with its namespace declaration, if it has one.
  static var root: XMLRoot { get }
  /// Writes the document's members.
  func write(to sink: inout some DocumentSink)
}

/// The root element of an XML document.
public struct XMLRoot: Hashable, Sendable {
  /// The element's name, with its prefix.
  public let name: String
  /// The attribute that declares the prefix.
  public let declaration: String?

  public init(_ name: String, declaration: String? = nil) {
    self.name = name
    self.declaration = declaration
  }
}

extension WireDocument {
  /// The document in a form.
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
