// Documents whose members are named once: a type says them by being `Codable`, and our own coders read and write it
// over JSONValue. Foundation's would cost every program 7.5 MB, see docs/decisions/0002-json.md.

/// A type of members: how one is read, in which words it is refused, how it is written.
public protocol JSONScalar: Codable {
  /// Reads the member `name` of an object; whether it may be missing or null is the type's business.
  init(member name: String, of object: JSONObject) throws(JSONShapeError)

  /// What is written; nil leaves the member out.
  var jsonValue: JSONValue? { get }
}

extension JSONScalar {
  public init(from decoder: any Decoder) throws { try self.init(at: decoder) }

  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }

  /// Reads the member at which a decoder stands.
  ///
  /// For types that have to say `init(from:)` themselves, because Swift would make another one up: enumerations.
  public init(at decoder: any Decoder) throws {
    guard let place = decoder as? JSONDecoding else { throw notOurs("\(Self.self)") }
    try self.init(member: place.name, of: place.object)
  }

  /// Writes the member at which an encoder stands.
  public func write(to encoder: any Encoder) throws {
    guard let place = encoder as? JSONEncoding else { throw notOurs("\(Self.self)") }
    place.write(jsonValue)
  }
}

private func notOurs(_ type: String) -> JSONShapeError {
  JSONShapeError(name: type, expected: "read and written by RegentJSON")
}

extension JSONObject {
  /// The object as a document whose type names its members.
  ///
  /// What is missing or of another kind is refused in the words of ``string(_:)`` and its like, but an array that is
  /// missing is empty; members that the type does not name are ignored.
  public func decoded<Document: Decodable>(
    as _: Document.Type = Document.self
  ) throws(JSONShapeError) -> Document {
    let name = "document"
    do {
      return try Document(from: JSONDecoding(.object(self), named: name))
    } catch {
      // What is none of ours comes from types of the standard library that want more than a kind of value.
      throw (error as? JSONShapeError) ?? JSONShapeError(name: name, expected: "of another kind")
    }
  }

  /// A document as it is written, members in the order in which its type names them.
  public init(encoding document: some Encodable) {
    let place = JSONEncoding()
    do {
      try document.encode(to: place)
    } catch {
      preconditionFailure("\(type(of: document)) has a member that cannot be written: \(error)")
    }
    guard let object = place.value?.object else { preconditionFailure("\(type(of: document)) is not an object") }
    self = object
  }
}
