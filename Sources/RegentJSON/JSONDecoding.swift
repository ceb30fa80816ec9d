/// A decoder for one value of a JSON document: the member `name` of `object`.
///
/// An element of an array is wrapped as the only member of an object. There is no coding path: errors name the member,
/// as those of ``JSONObject`` do.
struct JSONDecoding: Decoder, SingleValueDecodingContainer {
  let object: JSONObject
  /// The name of the member, which errors show.
  ///
  /// Elements of an array have the name of the array.
  let name: String
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ object: JSONObject, _ name: String) {
    self.object = object
    self.name = name
  }

  init(_ value: JSONValue?, named name: String) {
    self.init(JSONObject(unique: value.map { [JSONObject.Member(name, $0)] } ?? []), name)
  }

  func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(MembersDecoding(object: try object.object(name)))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    ElementsDecoding(elements: try object.optionalArray(name) ?? [], name: name)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { object[name]?.isNull ?? true }

  func decode(_: String.Type) throws -> String { try object.string(name) }

  func decode(_: Bool.Type) throws -> Bool { try object.bool(name) }

  func decode(_: Int64.Type) throws -> Int64 { try object.int64(name) }

  func decode(_: Int.Type) throws -> Int {
    guard let value = Int(exactly: try object.int64(name)) else {
      throw JSONShapeError(name: name, expected: "a smaller number")
    }
    return value
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The standard library decodes the other number types by calling this function again. That would never end.
    guard !(type is any Numeric.Type) else {
      throw JSONShapeError(name: name, expected: "an Int or an Int64: no member is a \(type)")
    }
    return try Value(from: self)
  }
}

/// The decoding container of an object.
private struct MembersDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: JSONObject
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { object.position(of: key.stringValue) != nil }

  func decodeNil(forKey key: Key) -> Bool { place(key).decodeNil() }

  func decode(_: String.Type, forKey key: Key) throws -> String { try object.string(key.stringValue) }

  func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? {
    try object.optionalString(key.stringValue)
  }

  func decode<Value: Decodable>(_: Value.Type, forKey key: Key) throws -> Value { try Value(from: place(key)) }

  func decodeIfPresent<Value: Decodable>(_: Value.Type, forKey key: Key) throws -> Value? {
    let place = place(key)
    return place.decodeNil() ? nil : try Value(from: place)
  }

  func nestedContainer<Inner>(keyedBy type: Inner.Type, forKey key: Key) throws -> KeyedDecodingContainer<Inner> {
    try place(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try place(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { JSONDecoding(object, "super") }

  func superDecoder(forKey key: Key) -> any Decoder { place(key) }

  private func place(_ key: Key) -> JSONDecoding { JSONDecoding(object, key.stringValue) }
}

/// The decoding container of an array.
private struct ElementsDecoding: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let name: String
  var codingPath: [any CodingKey] { [] }
  var currentIndex = 0
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  /// The next element.
  ///
  /// After the last one it is a missing value, which every type refuses.
  private mutating func next() -> JSONDecoding {
    defer { currentIndex += 1 }
    return JSONDecoding(isAtEnd ? nil : elements[currentIndex], named: name)
  }

  mutating func decodeNil() -> Bool {
    guard !isAtEnd, elements[currentIndex].isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_: Value.Type) throws -> Value { try Value(from: next()) }

  mutating func nestedContainer<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

  mutating func superDecoder() -> any Decoder { next() }
}
