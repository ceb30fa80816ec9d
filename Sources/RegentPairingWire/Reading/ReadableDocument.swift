public import RegentJSON

/// A document that a client can read back from JSON.
///
/// Clients read what a service of another version wrote: members that nobody knows are ignored, times may be numbers or
/// texts, and only what a client cannot do without has to be there.
public protocol ReadableDocument: WireDocument {
  /// Reads the members.
  init(from object: JSONObject) throws(JSONShapeError)
}

extension ReadableDocument {
  /// The most that a client reads of an answer: 1 MiB; a provider list with a thousand providers has a third of that.
  public static var limits: JSONLimits { JSONLimits(depth: 16, bytes: 1 << 20) }

  /// Reads the JSON text of an answer.
  public init(json bytes: [UInt8]) throws(DocumentError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(reading: bytes, limits: Self.limits)
    } catch {
      throw .notJSON(error)
    }
    guard let object = value.object else { throw .notAnObject }
    do throws(JSONShapeError) {
      try self.init(from: object)
    } catch {
      throw .shape(error)
    }
  }
}

/// Why an answer is not the document that was expected.
public enum DocumentError: Error, Hashable, Sendable {
  /// It is no JSON.
  case notJSON(JSONError)
  /// It is JSON, but no object.
  case notAnObject
  /// A member is missing or of another type.
  case shape(JSONShapeError)

  /// The same error.
  public static func == (one: DocumentError, other: DocumentError) -> Bool {
    switch (one, other) {
    case (.notJSON(let left), .notJSON(let right)): left == right
    case (.shape(let left), .shape(let right)): left == right
    case (.notAnObject, .notAnObject): true
    default: false
    }
  }

  /// Hashes what kind of error it is.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(description)
  }
}

extension DocumentError: CustomStringConvertible {
  /// What is wrong with the answer; never what it said.
  public var description: String {
    switch self {
    case .notJSON(let error): "the service's answer is \(error)"
    case .notAnObject: "the service's answer is JSON, but not an object"
    case .shape(let error): "the service's answer is not as expected: \(error)"
    }
  }
}
