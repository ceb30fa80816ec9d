internal import RegentEncodings

/// The cookies of one request (RFC 6265 §4.2.1), parsed strictly.
///
/// A pair that breaks the grammar is skipped and does not affect the pair next to it. Other programs on the same host
/// may set any cookie; if a quoted value could contain a semicolon, it could hide a pair or add one. ``value(of:)``
/// ignores a name that was sent twice: a sibling domain can set a second cookie with the same name, and the server
/// cannot tell them apart.
public struct Cookies: Sendable, Equatable {
  /// One cookie that follows the grammar.
  public struct Cookie: Sendable, Equatable {
    public let name: String
    /// The value of the cookie, without quotes around it.
    public let value: String
  }

  /// The maximum number of cookies of one request.
  ///
  /// Further ones count as malformed.
  public static let maximumCount = 128

  /// All well-formed cookies in the order in which they were sent.
  public private(set) var all: [Cookie] = []

  /// The number of cookies that were skipped because they break the grammar or exceed the limit.
  public private(set) var malformedCount = 0

  public init() {}

  /// Parses the values of all `Cookie` headers of one request.
  public init(headerValues: [String]) {
    for line in headerValues {
      read(Array(line.utf8).span)
    }
  }

  /// Parses the value of one `Cookie` header.
  public init(headerValue: Span<UInt8>) {
    read(headerValue)
  }

  /// The value of a cookie that was sent exactly once; nil otherwise.
  public func value(of name: String) -> String? {
    let values = self.values(of: name)
    return values.count == 1 ? values.first : nil
  }

  /// All values of the cookies with a name.
  public func values(of name: String) -> [String] {
    all.filter { $0.name.hasSameBytes(as: name) }.map(\.value)
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
