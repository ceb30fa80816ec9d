public import RegentHTTPCodec

/// The headers that every response has, including the server's own responses.
public struct CommonHeaders: Sendable {
  private(set) var lines: [UInt8] = []

  public init() {}

  /// Adds a header to all responses.
  ///
  /// Returns false, and adds nothing, if the header is not safe or only the server may set it.
  @discardableResult
  public mutating func add(_ name: HeaderName, _ value: String) -> Bool {
    var response = Response(.ok)
    response.addHeader(name, value)
    guard !response.isFaulty else { return false }
    lines += response.fieldLines
    return true
  }
}
