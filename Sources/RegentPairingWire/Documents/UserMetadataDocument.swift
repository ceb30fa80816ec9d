/// What an app may know about the viewer: what `tokens/usermetadata` answers.
public struct UserMetadataDocument: WireDocument, Hashable {
  public static let root = XMLRoot("userMetadata")

  /// The value of an attribute.
  public enum Value: Hashable, Sendable {
    /// One text; also what an encrypted attribute becomes, whatever it was.
    case text(String)
    /// A list.
    case list([String])
    /// Texts by name, in order: the maximum ratings.
    case map([Entry])
    /// A number.
    case number(Int64)
    /// Values by name that are not all texts: other services have lists in maps.
    case structure([Attribute])
  }

  /// One entry of a map.
  public struct Entry: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// One attribute.
  public struct Attribute: Hashable, Sendable {
    public var name: String
    /// Its value, in clear or, when it is encrypted, as base64.
    public var value: Value
    /// Whether it is encrypted with the requestor's certificate.
    public var isEncrypted: Bool

    public init(name: String, value: Value, isEncrypted: Bool = false) {
      self.name = name
      self.value = value
      self.isEncrypted = isEncrypted
    }
  }

  /// When any of it changed last, in seconds since 1970 (as documented; elsewhere times are milliseconds).
  public var updated: Int64
  /// The attributes, in the order to write.
  public var attributes: [Attribute]

  /// Attributes of a viewer.
  public init(updated: Int64, attributes: [Attribute]) {
    self.updated = updated
    self.attributes = attributes
  }

  /// Writes the documented members.
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
    // Rating schemes are named by operators; every other name is fit for an element already.
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
