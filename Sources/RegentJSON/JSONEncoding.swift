/// An encoder for one value of a JSON document.
///
/// The encoder is a class because an encoding container that it has returned writes into it later.
final class JSONEncoding: Encoder, SingleValueEncodingContainer {
  private enum Shape { case single, object, array }

  private var shape = Shape.single
  private var single: JSONValue?
  /// The members of an object, or the elements of an array, which have empty names.
  private var parts: [(name: String, place: JSONEncoding)] = []
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The JSON value that was written; nil if there is none.
  var value: JSONValue? {
    switch shape {
    case .single: single
    case .object:
      .object(JSONObject(parts.compactMap { name, place in place.value.map { JSONObject.Member(name, $0) } }))
    case .array: .array(parts.map { $0.place.value ?? .null })
    }
  }

  func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
    shape = .object
    return KeyedEncodingContainer(MembersEncoding<Key>(place: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    shape = .array
    return ElementsEncoding(place: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { write(.null) }

  func encode(_ value: String) { write(.string(value)) }

  func encode(_ value: Bool) { write(.bool(value)) }

  func encode(_ value: Int64) { write(.integer(value)) }

  func encode(_ value: Int) { write(.integer(Int64(value))) }

  func encode(_ value: some Encodable) throws {
    // The standard library encodes the other number types by calling this function again. That would never end.
    guard !(value is any Numeric) else {
      throw JSONShapeError(name: "\(value)", expected: "an Int or an Int64: no member is a \(type(of: value))")
    }
    try value.encode(to: self)
  }

  func write(_ value: JSONValue?) { single = value }

  /// Adds a member or an element, and returns the encoder for its value.
  func add(_ name: String = "") -> JSONEncoding {
    let place = JSONEncoding()
    parts.append((name, place))
    return place
  }

  var count: Int { parts.count }
}

/// The encoding container of an object.
private struct MembersEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let place: JSONEncoding
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { place.add(key.stringValue).encodeNil() }

  func encode(_ value: String, forKey key: Key) { place.add(key.stringValue).write(.string(value)) }

  func encode(_ value: some Encodable, forKey key: Key) throws { try value.encode(to: place.add(key.stringValue)) }

  func nestedContainer<Inner>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
    place.add(key.stringValue).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    place.add(key.stringValue).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { place.add("super") }

  func superEncoder(forKey key: Key) -> any Encoder { place.add(key.stringValue) }
}

/// The encoding container of an array.
private struct ElementsEncoding: UnkeyedEncodingContainer {
  let place: JSONEncoding
  var codingPath: [any CodingKey] { [] }
  var count: Int { place.count }

  func encodeNil() { place.add().encodeNil() }

  func encode(_ value: some Encodable) throws { try value.encode(to: place.add()) }

  func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    place.add().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { place.add().unkeyedContainer() }

  func superEncoder() -> any Encoder { place.add() }
}
