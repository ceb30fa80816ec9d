public import RegentHTTPCodec

/// The answer to a call; every status is an answer, not an error.
public struct ClientResponse: Sendable {
  public let status: Status
  /// The headers in the order they came.
  public let headers: [ClientHeader]
  /// The whole body.
  public let body: [UInt8]
  /// The URL that answered: another one than was asked when redirects were followed.
  public let url: ClientURL
  /// The server's clock (its Date header) in epoch milliseconds; `nil` when it says none that can be read.
  ///
  /// Over plain HTTP anybody on the way can have written it.
  public let serverDate: Int64?

  /// An answer made of its parts.
  public init(status: Status, headers: [ClientHeader], body: [UInt8], url: ClientURL) {
    self.status = status
    self.headers = headers
    self.body = body
    self.url = url
    serverDate = ClientResponse.serverDate(in: headers)
  }

  /// The one Date header in epoch milliseconds; two that could differ are none.
  static func serverDate(in headers: [ClientHeader]) -> Int64? {
    let dates = headers.filter { $0.name == .date }
    guard dates.count == 1 else { return nil }
    return HTTPDate.epochSeconds(dates[0].value).map { $0 * 1_000 }
  }

  /// The value of the first header of that name.
  ///
  /// - Parameter name: the name, in any case.
  /// - Returns: `nil` when there is none.
  public func header(_ name: HeaderName) -> String? {
    headers.first { $0.name == name }?.value
  }

  /// The values of all headers of that name, in order.
  ///
  /// - Parameter name: the name, in any case.
  /// - Returns: empty when there is none.
  public func headers(_ name: HeaderName) -> [String] {
    headers.filter { $0.name == name }.map(\.value)
  }
}
