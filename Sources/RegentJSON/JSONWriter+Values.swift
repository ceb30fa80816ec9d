// Writes values: one `value` function for each type, and a `member` function that writes a name and its value.

extension JSONWriter {
  public mutating func value(_ string: String) {
    beginValue()
    quoted(string)
  }

  public mutating func value(_ number: Int64) {
    beginValue()
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    decimal(number.magnitude)
  }

  public mutating func value(_ number: Int) { value(Int64(number)) }

  public mutating func value(_ number: UInt64) {
    beginValue()
    decimal(number)
  }

  /// Writes the shortest text that gives the same number when it is read.
  ///
  /// Writes `null` for infinity and NaN.
  public mutating func value(_ number: Double) {
    beginValue()
    bytes.append(contentsOf: (number.isFinite ? number.description : "null").utf8)
  }

  public mutating func value(_ bool: Bool) {
    beginValue()
    bytes.append(contentsOf: (bool ? "true" : "false").utf8)
  }

  public mutating func null() {
    beginValue()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a JSON value with all values in it.
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

  /// Writes an object with all values in it.
  public mutating func value(_ object: JSONObject) {
    self.object { json in
      for member in object.members {
        json.name(member.name)
        json.value(member.value)
      }
    }
  }

  /// Writes JSON text that was built before, for parts that are sent often.
  ///
  /// The text is not checked.
  public mutating func value(prebuilt json: [UInt8]) {
    beginValue()
    bytes.append(contentsOf: json)
  }
}

extension JSONWriter {
  public mutating func member(_ name: String, _ string: String) {
    self.name(name)
    value(string)
  }

  public mutating func member(_ name: String, _ number: Int64) {
    self.name(name)
    value(number)
  }

  public mutating func member(_ name: String, _ number: Int) { member(name, Int64(number)) }

  public mutating func member(_ name: String, _ number: UInt64) {
    self.name(name)
    value(number)
  }

  public mutating func member(_ name: String, _ number: Double) {
    self.name(name)
    value(number)
  }

  public mutating func member(_ name: String, _ bool: Bool) {
    self.name(name)
    value(bool)
  }

  public mutating func member(_ name: String, _ value: JSONValue) {
    self.name(name)
    self.value(value)
  }

  /// Writes a member with the value `null`.
  public mutating func null(_ name: String) {
    self.name(name)
    null()
  }
}

extension JSONValue {
  public func bytes(_ style: JSONWriter.Style = .compact) -> [UInt8] {
    JSONWriter.bytes(style: style) { json in json.value(self) }
  }
}

extension JSONObject {
  public func bytes(_ style: JSONWriter.Style = .compact) -> [UInt8] {
    JSONWriter.bytes(style: style) { json in json.value(self) }
  }
}
