import RegentJSON
import Testing

@Suite struct `Codable values as JSON` {
  @Test func `a Codable value is written in the order of its members and read back`() throws {
    let parts = [Part(size: -1), Part(size: .max)]
    let whole = Whole(name: "k", isGood: true, part: Part(size: 3), parts: parts, tags: ["b", "a"])
    let object = JSONObject(encoding: whole)
    #expect(
      object.description
        == #"{"name":"k","isGood":true,"part":{"size":3},"parts":[{"size":-1},{"size":9223372036854775807}],"#
        + #""tags":["b","a"]}"#)
    #expect(try object.decoded() == whole)
  }

  @Test(
    arguments: [
      (#"{"isGood":true,"part":{"size":1}}"#, #"member "name" is missing"#),
      (#"{"name":null,"isGood":true,"part":{"size":1}}"#, #"member "name" must be a string"#),
      (#"{"name":"k","isGood":1,"part":{"size":1}}"#, #"member "isGood" must be true or false"#),
      (#"{"name":"k","isGood":true}"#, #"member "part" is missing"#),
      (#"{"name":"k","isGood":true,"part":[]}"#, #"member "part" must be an object"#),
      (#"{"name":"k","isGood":true,"part":{"size":1.5}}"#, #"member "size" must be a whole number"#),
      (#"{"name":"k","isGood":true,"part":{"size":1},"parts":{}}"#, #"member "parts" must be an array"#),
      (#"{"name":"k","isGood":true,"part":{"size":1},"parts":[1]}"#, #"member "parts" must be an object"#),
      (#"{"name":"k","isGood":true,"part":{"size":1},"tags":["a",1]}"#, #"member "tags" must be a string"#),
      (#"{"name":"k","isGood":true,"part":{"size":1},"note":5}"#, #"member "note" must be a string"#),
    ])
  func `a missing member or one of the wrong type is refused with its name`(text: String, sentence: String) throws {
    let object = try #require(try JSONValue(reading: Array(text.utf8)).object)
    #expect { _ = try object.decoded(as: Whole.self) } throws: { "\($0)" == sentence }
  }

  @Test func `optional members may be missing, and unknown members are ignored`() throws {
    let object: JSONObject = ["other": 1, "name": "k", "isGood": false, "part": ["size": 1.0], "note": nil]
    let whole: Whole = try object.decoded()
    #expect(whole == Whole(name: "k", isGood: false, part: Part(size: 1), parts: [], tags: []))
  }

  @Test func `number types that could truncate a value are refused`() {
    #expect(throws: JSONShapeError.self) { try (["size": 1] as JSONObject).decoded(as: Narrow.self) }
    #expect(throws: JSONShapeError.self) { try (["size": 1] as JSONObject).decoded(as: [String: Float].self) }
  }

  @Test func `Int members are written and read exactly`() throws {
    let object = JSONObject(encoding: Count(count: .min, more: 7))
    #expect(object.description == #"{"count":-9223372036854775808,"more":7}"#)
    #expect(try object.decoded() == Count(count: .min, more: 7))
    #expect(throws: JSONShapeError.self) { try (["count": 1.5] as JSONObject).decoded(as: Count.self) }
  }

  @Test func `a value may encode itself into nested containers`() throws {
    let object = JSONObject(encoding: Nested())
    #expect(object.description == #"{"inner":{"a":"x"},"list":["y",null,{"a":"z"},["w"]],"nothing":null,"super":"s"}"#)
    let nested: Nested = try object.decoded()
    #expect(nested.read == ["x", "y", "null", "z", "w", "s"])
  }
}

private struct Whole: Codable, Equatable {
  var name: String
  var isGood: Bool
  var part: Part
  var parts: [Part]
  var tags: [String]
  var note: String?
}

private struct Part: Codable, Equatable {
  var size: Int64
}

/// Has `Int` members.
///
/// Encoding one once crashed.
private struct Count: Codable, Equatable {
  var count: Int
  var more: Int?
}

private struct Narrow: Codable {
  var size: Int8
}

private struct Nested: Codable {
  var read: [String] = []

  private enum Key: String, CodingKey { case inner, list, nothing, a }

  init() {}

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    read.append(try members.nestedContainer(keyedBy: Key.self, forKey: .inner).decode(String.self, forKey: .a))
    var list = try members.nestedUnkeyedContainer(forKey: .list)
    read.append(try list.decode(String.self))
    if try list.decodeNil() { read.append("null") }
    read.append(try list.nestedContainer(keyedBy: Key.self).decode(String.self, forKey: .a))
    var inner = try list.nestedUnkeyedContainer()
    read.append(try inner.decode(String.self))
    guard list.isAtEnd, list.count == 4, try members.decodeNil(forKey: .nothing) else { return }
    read.append(try String(from: members.superDecoder()))
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    var inner = members.nestedContainer(keyedBy: Key.self, forKey: .inner)
    var list = members.nestedUnkeyedContainer(forKey: .list)
    try inner.encode("x", forKey: .a)
    try list.encode("y")
    try list.encodeNil()
    var element = list.nestedContainer(keyedBy: Key.self)
    try element.encode("z", forKey: .a)
    var elements = list.nestedUnkeyedContainer()
    try elements.encode("w")
    try members.encodeNil(forKey: .nothing)
    try "s".encode(to: members.superEncoder())
  }
}
