public import RegentJSON

/// A document that a client can parse from JSON.
///
/// Clients may meet a service of another version. They ignore unknown members, accept times as numbers or texts, and
/// require only the members that they need.
public protocol ReadableDocument: WireDocument {
  init(from object: JSONObject) throws(JSONShapeError)
}

extension ReadableDocument {
  /// The largest response that a client reads: 1 MiB.
  ///
  /// A list of a thousand providers has a third of that.
  public static var limits: JSONLimits { JSONLimits(depth: 16, bytes: 1 << 20) }

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

/// Why a response is not the expected document.
public enum DocumentError: Error, Hashable, Sendable {
  case notJSON(JSONError)
  case notAnObject
  case shape(JSONShapeError)

  public static func == (one: DocumentError, other: DocumentError) -> Bool {
    switch (one, other) {
    case (.notJSON(let left), .notJSON(let right)): left == right
    case (.shape(let left), .shape(let right)): left == right
    case (.notAnObject, .notAnObject): true
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(description)
  }
}

extension DocumentError: CustomStringConvertible {
  /// A sentence about what is wrong with the response.
  ///
  /// It never repeats the response.
  public var description: String {
    switch self {
    case .notJSON(let error): "the service's answer is \(error)"
    case .notAnObject: "the service's answer is JSON, but not an object"
    case .shape(let error): "the service's answer is not as expected: \(error)"
    }
  }
}
