/// Why a query or a form was refused.
public enum FormError: Error, Hashable, Sendable, CustomStringConvertible {
  case tooManyBytes(limit: Int)
  case tooManyParameters(limit: Int)
  case undecodable(PercentDecodingError)
  case repeated(name: String)

  /// A sentence that is safe to show.
  public var description: String {
    switch self {
    case .tooManyBytes(let limit): "the form or query is longer than \(limit) bytes: send less"
    case .tooManyParameters(let limit):
      "the form or query has more than \(limit) parameters: send fewer"
    case .undecodable(let fault): "the form or query cannot be decoded: \(fault)"
    case .repeated(let name):
      "the parameter '\(name.prefix(64))' is given more than once: send it once"
    }
  }
}

/// The parameters of a query or of an `application/x-www-form-urlencoded` body, in the order they were sent.
///
/// Nothing here picks the first or the last of several equal names: two programs that pick differently are how a
/// parameter slips past a check. `+` is a space; a name without `=` is present with an empty value.
public struct FormParameters: Sendable, Equatable {
  /// How much is read before the whole is refused.
  public struct Limits: Sendable, Hashable {
    /// Most parameters in one query or form.
    public var parameters: Int
    /// Most bytes, still encoded.
    public var bytes: Int

    /// Limits that suit what a device or a sign-in page sends.
    public init(parameters: Int = 128, bytes: Int = 65_536) {
      self.parameters = parameters
      self.bytes = bytes
    }
  }

  /// One name with its value, decoded.
  public struct Parameter: Sendable, Equatable {
    /// The decoded name.
    public let name: String
    /// The decoded value, empty when none was given.
    public let value: String
  }

  /// How often a name occurs.
  public enum Occurrence: Sendable, Equatable {
    case absent
    case once(String)
    case repeated([String])
  }

  /// Everything in the order sent.
  public let all: [Parameter]

  /// No parameters at all.
  public init() {
    all = []
  }

  /// Reads encoded bytes: a query without its question mark, or a form body.
  ///
  /// - Throws: `FormError` when a limit is passed or something cannot be decoded.
  public init(encoded: Span<UInt8>, limits: Limits = Limits()) throws(FormError) {
    guard encoded.count <= limits.bytes else { throw .tooManyBytes(limit: limits.bytes) }
    var found: [Parameter] = []
    var start = 0
    while start < encoded.count {
      // One look at each byte: tokens of a thousand bytes come in forms, and nearly nothing is escaped.
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
        found.append(
          Parameter(
            name: try Self.decoded(encoded, start..<nameEnd, isPlain: isPlain),
            value: try Self.decoded(encoded, valueStart..<end, isPlain: isPlain)))
      }
      start = end + 1
    }
    all = found
  }

  /// Whether nothing was sent.
  public var isEmpty: Bool { all.isEmpty }

  /// Tells absent, once and repeated apart.
  public func occurrence(of name: String) -> Occurrence {
    let values = self.values(of: name)
    guard let first = values.first else { return .absent }
    return values.count == 1 ? .once(first) : .repeated(values)
  }

  /// The value of a parameter that may be given once at most; nil when it is absent.
  ///
  /// - Throws: `FormError.repeated` when it is given more than once.
  public func single(_ name: String) throws(FormError) -> String? {
    var value: String?
    for parameter in all where parameter.name == name {
      guard value == nil else { throw .repeated(name: name) }
      value = parameter.value
    }
    return value
  }

  /// All values of a name, in the order sent.
  public func values(of name: String) -> [String] {
    var values: [String] = []
    for parameter in all where parameter.name == name { values.append(parameter.value) }
    return values
  }

  /// The first name that occurs a second time: protocols such as RFC 8628 refuse any repetition.
  public var firstRepeatedName: String? {
    var seen: Set<String> = []
    return all.first { !seen.insert($0.name).inserted }?.name
  }

  private static func decoded(
    _ encoded: Span<UInt8>, _ range: Range<Int>, isPlain: Bool
  ) throws(FormError) -> String {
    do {
      let part = encoded.extracting(range)
      return isPlain ? try PercentDecoding.validated(part) : try PercentDecoding.text(part, plusSign: .space)
    } catch {
      // The offset counts from the start of the whole query or form, which is what its sender can look up.
      throw .undecodable(
        PercentDecodingError(reason: error.reason, offset: range.lowerBound + error.offset))
    }
  }
}
