// The values a writer can write: one `value` per type, and `member` as name and value in one call.

extension JSONWriter {
  /// A string.
  public mutating func value(_ string: String) {
    beginValue()
    quoted(string)
  }

  /// A whole number.
  public mutating func value(_ number: Int64) {
    beginValue()
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    decimal(number.magnitude)
  }

  /// A whole number.
  public mutating func value(_ number: Int) { value(Int64(number)) }

  /// A whole number, exact up to `UInt64.max`.
  public mutating func value(_ number: UInt64) {
    beginValue()
    decimal(number)
  }

  /// A number as the shortest text that reads back the same; `null` when infinite or NaN.
  public mutating func value(_ number: Double) {
    beginValue()
    bytes.append(contentsOf: (number.isFinite ? number.description : "null").utf8)
  }

  /// `true` or `false`.
  public mutating func value(_ bool: Bool) {
    beginValue()
    bytes.append(contentsOf: (bool ? "true" : "false").utf8)
  }

  /// The value `null`.
  public mutating func null() {
    beginValue()
    bytes.append(contentsOf: "null".utf8)
  }

  /// A whole tree.
  public mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let bool): self.value(bool)
    case .integer(let number): self.value(number)
    case .unsigned(let number): self.value(number)
    case .double(let number): self.value(number)
    case .string(let string): self.value(string)
    case .array(let elements):
      array { json in
        for element in elements { json.value(element) }
      }
    case .object(let object): self.value(object)
    }
  }

  /// A whole object.
  public mutating func value(_ object: JSONObject) {
    self.object { json in
      for member in object.members {
        json.name(member.name)
        json.value(member.value)
      }
    }
  }

  /// A value that is JSON text already, for parts that are written once and sent often; it is not checked.
  public mutating func value(prebuilt json: [UInt8]) {
    beginValue()
    bytes.append(contentsOf: json)
  }
}

extension JSONWriter {
  /// A member that is a string.
  public mutating func member(_ name: String, _ string: String) {
    self.name(name)
    value(string)
  }

  /// A member that is a whole number.
  public mutating func member(_ name: String, _ number: Int64) {
    self.name(name)
    value(number)
  }

  /// A member that is a whole number.
  public mutating func member(_ name: String, _ number: Int) { member(name, Int64(number)) }

  /// A member that is a whole number.
  public mutating func member(_ name: String, _ number: UInt64) {
    self.name(name)
    value(number)
  }

  /// A member that is a number.
  public mutating func member(_ name: String, _ number: Double) {
    self.name(name)
    value(number)
  }

  /// A member that is `true` or `false`.
  public mutating func member(_ name: String, _ bool: Bool) {
    self.name(name)
    value(bool)
  }

  /// A member that is a tree.
  public mutating func member(_ name: String, _ value: JSONValue) {
    self.name(name)
    self.value(value)
  }

  /// A member that is `null`.
  public mutating func null(_ name: String) {
    self.name(name)
    null()
  }
}

extension JSONValue {
  /// The value as JSON text in UTF-8.
  public func bytes(_ style: JSONWriter.Style = .compact) -> [UInt8] {
    JSONWriter.bytes(style: style) { json in json.value(self) }
  }
}

extension JSONObject {
  /// The object as JSON text in UTF-8.
  public func bytes(_ style: JSONWriter.Style = .compact) -> [UInt8] {
    JSONWriter.bytes(style: style) { json in json.value(self) }
  }
}
