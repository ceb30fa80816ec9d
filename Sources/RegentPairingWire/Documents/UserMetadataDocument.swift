/// The response of `tokens/usermetadata`: attributes of the viewer that the app may read.
public struct UserMetadataDocument: WireDocument, Hashable {
  public static let root = XMLRoot("userMetadata")

  public enum Value: Hashable, Sendable {
    /// The value of an attribute is a text. An encrypted attribute always is one, whatever type it had.
    case text(String)
    case list([String])
    /// The value of an attribute is an ordered map of texts, such as the maximum ratings.
    case map([Entry])
    case number(Int64)
    /// The value of an attribute is a map with values of several types. Regent writes no such attribute, but other
    /// services do.
    case structure([Attribute])
  }

  public struct Entry: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public struct Attribute: Hashable, Sendable {
    public var name: String
    /// The value of the attribute.
    ///
    /// If it is encrypted, it is a text in base64.
    public var value: Value
    /// Whether the attribute's value is encrypted with the requestor's certificate.
    public var isEncrypted: Bool

    public init(name: String, value: Value, isEncrypted: Bool = false) {
      self.name = name
      self.value = value
      self.isEncrypted = isEncrypted
    }
  }

  /// The time of the latest change of any attribute in seconds since 1970.
  ///
  /// The protocol uses milliseconds elsewhere.
  public var updated: Int64
  /// The attributes in the order in which they are written.
  public var attributes: [Attribute]

  public init(updated: Int64, attributes: [Attribute]) {
    self.updated = updated
    self.attributes = attributes
  }

  public func write(to sink: inout some DocumentSink) {
    sink.number("updated", updated)
    sink.texts("encrypted", item: "key", attributes.filter(\.isEncrypted).map(\.name))
    sink.object("data") { data in
      for attribute in attributes { attribute.write(to: &data) }
    }
  }
}

extension UserMetadataDocument.Attribute {
  fileprivate func write<Sink: DocumentSink>(to sink: inout Sink) {
    // Operators choose the names of rating schemes, which may not be valid XML names. All other names are valid.
    func fit(_ name: String) -> String { Sink.format == .xml ? XMLText.name(name) : name }
    switch value {
    case .text(let text): sink.text(name, text)
    case .list(let texts): sink.texts(name, item: "value", texts)
    case .number(let number): sink.number(name, number)
    case .map(let entries):
      sink.object(name) { for entry in entries { $0.text(fit(entry.name), entry.value) } }
    case .structure(let members):
      sink.object(name) { for member in members { member.write(to: &$0) } }
    }
  }
}
