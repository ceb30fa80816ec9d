internal import RegentEncodings

/// Why a query or a form was refused.
public enum FormError: Error, Hashable, Sendable, CustomStringConvertible {
  case tooManyBytes(limit: Int)
  case tooManyParameters(limit: Int)
  case nameTooLong(limit: Int)
  case undecodable(PercentDecodingError)
  case repeated(name: String)

  /// A sentence about the error that is safe to show.
  public var description: String {
    switch self {
    case .tooManyBytes(let limit): "the form or query is longer than \(limit) bytes: send less"
    case .tooManyParameters(let limit):
      "the form or query has more than \(limit) parameters: send fewer"
    case .nameTooLong(let limit):
      "the form or query has a parameter whose name is longer than \(limit) bytes: shorten it"
    case .undecodable(let fault): "the form or query cannot be decoded: \(fault)"
    case .repeated(let name):
      "the parameter '\(name.prefix(64))' is given more than once: send it once"
    }
  }
}

/// The parameters of a query or of an `application/x-www-form-urlencoded` body, in the order in which they were sent.
///
/// No function here silently chooses one of several parameters with the same name: if two programs choose differently,
/// a parameter can bypass a check. `+` is decoded as a space. A name without `=` has an empty value.
public struct FormParameters: Sendable, Equatable {
  /// Limits of a query or form.
  ///
  /// The parser refuses one that exceeds a limit.
  public struct Limits: Sendable, Hashable {
    /// The maximum number of parameters in a query or form.
    public var parameters: Int
    /// The maximum length of a query or form in bytes, before decoding.
    public var bytes: Int
    /// The maximum length of a parameter's name in bytes, after decoding.
    public var nameBytes: Int

    /// Makes limits; the defaults suit the forms of devices and of the sign-in page.
    public init(parameters: Int = 128, bytes: Int = 65_536, nameBytes: Int = 128) {
      self.parameters = parameters
      self.nameBytes = nameBytes
      self.bytes = bytes
    }
  }

  /// A decoded parameter: its name and its value.
  public struct Parameter: Sendable, Equatable {
    public let name: String
    /// The decoded value of the parameter; empty if there is none.
    public let value: String
  }

  /// How often a parameter was sent, with its values.
  public enum Occurrence: Sendable, Equatable {
    case absent
    case once(String)
    case repeated([String])
  }

  /// All parameters in the order in which they were sent.
  public let all: [Parameter]

  public init() {
    all = []
  }

  /// Parses a query without its question mark, or a form body.
  ///
  /// - Throws: `FormError` if a limit is exceeded or a part cannot be decoded.
  public init(encoded: Span<UInt8>, limits: Limits = Limits()) throws(FormError) {
    guard encoded.count <= limits.bytes else { throw .tooManyBytes(limit: limits.bytes) }
    var found: [Parameter] = []
    var start = 0
    while start < encoded.count {
      // The loop finds separators and escapes in one pass, because forms contain tokens of a thousand bytes and few
      // escapes.
      var end = start
      var equals: Int?
      var isPlain = true
      bytes: while end < encoded.count {
        switch encoded[end] {
        case Characters.ampersand: break bytes
        case Characters.equals: equals = equals ?? end
        case Characters.percent, Characters.plus, 0: isPlain = false
        default: break
        }
        end += 1
      }
      if end > start {
        guard found.count < limits.parameters else {
          throw .tooManyParameters(limit: limits.parameters)
        }
        let nameEnd = equals ?? end
        let valueStart = equals.map { $0 + 1 } ?? end
        let name = try Self.decoded(encoded, start..<nameEnd, isPlain: isPlain)
        guard name.utf8.count <= limits.nameBytes else { throw .nameTooLong(limit: limits.nameBytes) }
        found.append(
          Parameter(
            name: name,
            value: try Self.decoded(encoded, valueStart..<end, isPlain: isPlain)))
      }
      start = end + 1
    }
    all = found
  }

  public var isEmpty: Bool { all.isEmpty }

  /// Whether the parameter is absent, or was sent once or more often.
  public func occurrence(of name: String) -> Occurrence {
    let values = self.values(of: name)
    guard let first = values.first else { return .absent }
    return values.count == 1 ? .once(first) : .repeated(values)
  }

  /// The value of a parameter that may be sent at most once; nil if it is absent.
  ///
  /// - Throws: `FormError.repeated` if it was sent more than once.
  public func single(_ name: String) throws(FormError) -> String? {
    var value: String?
    for parameter in all
    where parameter.name.utf8.count == name.utf8.count && parameter.name.hasSameBytes(as: name) {
      guard value == nil else { throw .repeated(name: name) }
      value = parameter.value
    }
    return value
  }

  /// All values of a parameter in the order in which they were sent.
  public func values(of name: String) -> [String] {
    var values: [String] = []
    for parameter in all
    where parameter.name.utf8.count == name.utf8.count && parameter.name.hasSameBytes(as: name) {
      values.append(parameter.value)
    }
    return values
  }

  /// The first parameter name that occurs twice.
  ///
  /// Protocols such as RFC 8628 refuse repeated parameters.
  public var firstRepeatedName: String? {
    // At most 128 short names, so that a search is cheap. A set would also take two spellings of a name for one.
    all.indices.first { place in
      all[..<place].contains { $0.name.hasSameBytes(as: all[place].name) }
    }.map { all[$0].name }
  }

  private static func decoded(
    _ encoded: Span<UInt8>, _ range: Range<Int>, isPlain: Bool
  ) throws(FormError) -> String {
    do {
      let part = encoded.extracting(range)
      return isPlain ? try PercentDecoding.validated(part) : try PercentDecoding.text(part, plusSign: .space)
    } catch {
      // The offset is counted from the start of the query or form, so that the sender can find the place.
      throw .undecodable(
        PercentDecodingError(reason: error.reason, offset: range.lowerBound + error.offset))
    }
  }
}
