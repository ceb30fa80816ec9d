// Reads and writes documents whose types are `Codable`, with coders of its own over JSONValue, so that a type names its
// members once. Foundation's coders would add 7.5 MB to every program, see docs/decisions/0002-json.md.

/// A type of a member: how to read it, which error it throws when it is wrong, and how to write it.
public protocol JSONScalar: Codable {
  /// Reads the member `name` of an object; each type decides whether it may be missing or null.
  init(member name: String, of object: JSONObject) throws(JSONShapeError)

  /// The JSON value of this member; nil leaves the member out.
  var jsonValue: JSONValue? { get }
}

extension JSONScalar {
  public init(from decoder: any Decoder) throws { try self.init(at: decoder) }

  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }

  /// Reads the member at the position of the decoder.
  ///
  /// Enumerations call this from their own `init(from:)`, because Swift would otherwise synthesise another one.
  public init(at decoder: any Decoder) throws {
    guard let place = decoder as? JSONDecoding else { throw notOurs("\(Self.self)") }
    try self.init(member: place.name, of: place.object)
  }

  /// Writes the member at the position of the encoder.
  public func write(to encoder: any Encoder) throws {
    guard let place = encoder as? JSONEncoding else { throw notOurs("\(Self.self)") }
    place.write(jsonValue)
  }
}

private func notOurs(_ type: String) -> JSONShapeError {
  JSONShapeError(name: type, expected: "read and written by RegentJSON")
}

extension JSONObject {
  /// Decodes the object as a document whose type names its members.
  ///
  /// Throws the errors of ``string(_:)`` and its siblings for members that are missing or have the wrong type. A
  /// missing array is read as an empty one. Members that the type does not name are ignored.
  public func decoded<Document: Decodable>(
    as _: Document.Type = Document.self
  ) throws(JSONShapeError) -> Document {
    let name = "document"
    do {
      return try Document(from: JSONDecoding(.object(self), named: name))
    } catch {
      // An error of another type comes from a type of the standard library that refused the value.
      throw (error as? JSONShapeError) ?? JSONShapeError(name: name, expected: "of another kind")
    }
  }

  /// Encodes a document, with the members in the order in which its type names them.
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
