import RegentJSON
import Testing

struct ObjectTests {
  @Test func `setting a member replaces it in place or appends it, and nil removes it`() {
    var object: JSONObject = ["a": 1, "b": 2]
    object["a"] = 3
    object["c"] = 4
    object["b"] = nil
    object["d"] = nil
    #expect(object.description == #"{"a":3,"c":4}"#)
    #expect(object.count == 2)
    #expect(!object.isEmpty)
  }

  @Test func `objects compare equal in any order of members, arrays only in the same order`() {
    #expect(["a": 1, "b": [2]] as JSONValue == ["b": [2], "a": 1])
    #expect(["a": 1, "b": 2] as JSONValue != ["a": 1, "c": 2])
    #expect(["a": 1] as JSONValue != ["a": 1, "b": 2])
    #expect(["a": 1, "b": 2] as JSONValue != ["b": 1, "a": 2])
    #expect([1, 2] as JSONValue != [2, 1])
    #expect(JSONValue.integer(1) != .double(1))
  }

  @Test func `looking up a missing member or element gives nil`() {
    let value: JSONValue = ["a": [1, 2]]
    #expect(value["a"]?[1] == 2)
    #expect(value["a"]?[2] == nil)
    #expect(value["a"]?[-1] == nil)
    #expect(value["b"] == nil)
    #expect(value["a"]?["b"] == nil)
    #expect(value[0] == nil)
  }

  @Test func `a member of the wrong type is refused with its name`() throws {
    let object: JSONObject = [
      "s": "x", "n": 5, "b": true, "a": ["p", "q"], "m": ["p", 1], "o": ["k": 1], "z": nil,
    ]
    #expect(try object.string("s") == "x")
    #expect(try object.int64("n") == 5)
    #expect(try object.bool("b"))
    #expect(try object.strings("a") == ["p", "q"])
    #expect(try object.array("m").count == 2)
    #expect(try object.object("o") == ["k": 1])
    #expect(try object.optionalString("z") == nil)
    #expect(try object.optionalString("missing") == nil)
    #expect(try object.optionalInt64("n") == 5)
    let missing = #expect(throws: JSONShapeError.self) { try object.string("missing") }
    #expect(missing?.description == #"member "missing" is missing"#)
    let wrong = #expect(throws: JSONShapeError.self) { try object.optionalString("n") }
    #expect(wrong?.description == #"member "n" must be a string"#)
    #expect(throws: JSONShapeError.self) { try object.strings("m") }
    #expect(throws: JSONShapeError.self) { try object.string("z") }
  }
}
