public import RegentHTTPCodec

/// The response to a call.
///
/// A response with an error status is one too.
public struct ClientResponse: Sendable {
  public let status: Status
  /// The headers in the order in which they were sent.
  public let headers: [ClientHeader]
  public let body: [UInt8]
  /// The URL that sent this response.
  ///
  /// After a redirect it differs from the requested URL.
  public let url: ClientURL
  /// The server's time (its Date header) in epoch milliseconds; nil if there is no valid Date.
  ///
  /// Over plain http, any machine on the network path may have changed it.
  public let serverDate: Int64?

  public init(status: Status, headers: [ClientHeader], body: [UInt8], url: ClientURL) {
    self.status = status
    self.headers = headers
    self.body = body
    self.url = url
    serverDate = ClientResponse.serverDate(in: headers)
  }

  /// The time of the Date header in epoch milliseconds; nil unless there is exactly one.
  static func serverDate(in headers: [ClientHeader]) -> Int64? {
    let dates = headers.filter { $0.name == .date }
    guard dates.count == 1 else { return nil }
    return HTTPDate.epochSeconds(dates[0].value).map { $0 * 1_000 }
  }

  /// The value of the first header with that name; nil if there is none.
  public func header(_ name: HeaderName) -> String? {
    headers.first { $0.name == name }?.value
  }

  /// The values of all headers with that name, in order.
  public func headers(_ name: HeaderName) -> [String] {
    headers.filter { $0.name == name }.map(\.value)
  }
}
