public import RegentHTTPCodec

/// Header lines that every reply carries, those included that the engine itself makes.
public struct StandingHeaders: Sendable {
  private(set) var lines: [UInt8] = []

  /// None.
  public init() {}

  /// Adds a line; nothing is added, and the answer is false, when it could not be written safely.
  @discardableResult
  public mutating func add(_ name: HeaderName, _ value: String) -> Bool {
    var response = Response(.ok)
    response.addHeader(name, value)
    guard !response.isFaulty else { return false }
    lines += response.fieldLines
    return true
  }
}
