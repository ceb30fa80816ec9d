/// The cookies of one request (RFC 6265 §4.2.1), read strictly.
///
/// A pair outside the grammar does not exist and never swallows its neighbour: other programs on the same host set
/// what they like, and a quoted value that hid a semicolon would smuggle a pair past (or into) ours. A name sent twice
/// is no cookie at all for ``value(of:)``: a sibling domain can plant a second one, and picking either is a guess.
public struct Cookies: Sendable, Equatable {
  /// One well-formed pair.
  public struct Cookie: Sendable, Equatable {
    /// The name: a token.
    public let name: String
    /// The value, without surrounding quotes.
    public let value: String
  }

  /// Most pairs that are read; later ones count as malformed.
  public static let maximumCount = 128

  /// The well-formed pairs in the order sent.
  public private(set) var all: [Cookie] = []

  /// How many pairs were left out because they break the grammar or the limit.
  public private(set) var malformedCount = 0

  /// No cookies at all.
  public init() {}

  /// Reads the values of the `Cookie` header lines of one request.
  public init(headerValues: [String]) {
    for line in headerValues {
      read(Array(line.utf8).span)
    }
  }

  /// Reads the value of one `Cookie` header line.
  public init(headerValue: Span<UInt8>) {
    read(headerValue)
  }

  /// The value of a cookie that is sent exactly once; nil otherwise.
  public func value(of name: String) -> String? {
    let values = self.values(of: name)
    return values.count == 1 ? values.first : nil
  }

  /// All values sent under a name.
  public func values(of name: String) -> [String] {
    all.filter { $0.name == name }.map(\.value)
  }

  private mutating func read(_ line: Span<UInt8>) {
    var start = 0
    while start < line.count {
      var end = start
      while end < line.count, line[end] != Characters.semicolon { end += 1 }
      var range = start..<end
      while !range.isEmpty, Characters.isBlank(line[range.lowerBound]) {
        range = range.dropFirst()
      }
      while !range.isEmpty, Characters.isBlank(line[range.upperBound - 1]) {
        range = range.dropLast()
      }
      if !range.isEmpty {
        if all.count < Self.maximumCount, let cookie = Self.cookie(line.extracting(range)) {
          all.append(cookie)
        } else {
          malformedCount += 1
        }
      }
      start = end + 1
    }
  }

  private static func cookie(_ pair: Span<UInt8>) -> Cookie? {
    guard let equals = pair.indices.first(where: { pair[$0] == Characters.equals }), equals > 0
    else { return nil }
    for index in 0..<equals where !pair[index].isToken { return nil }
    var value = (equals + 1)..<pair.count
    if value.count >= 2, pair[value.lowerBound] == Characters.doubleQuote,
      pair[value.upperBound - 1] == Characters.doubleQuote
    {
      value = value.dropFirst().dropLast()
    }
    for index in value where !SetCookie.isValueCharacter(pair[index]) { return nil }
    return Cookie(name: pair.text(0..<equals), value: pair.text(value))
  }
}
