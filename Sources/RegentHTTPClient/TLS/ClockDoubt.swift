import RegentHTTPCodec

// If a certificate is not valid now, either the certificate is bad or this machine's clock is wrong. To find out, the
// client reads the server's `Date` header without checking the certificate, on a separate connection that carries no
// other request. The header only selects the error that is shown; the client never uses it as the time.

extension ClientRequest {
  /// The time limit of the request for the server's time, in milliseconds.
  static let serverTimeMilliseconds = 3_000

  /// A HEAD request for "/" that contains nothing of the caller's request.
  ///
  /// Its response has the server's time.
  static func serverTime(of url: ClientURL) -> ClientRequest {
    var request = ClientRequest(.head, url.root)
    request.responseLimit = 0
    return request
  }
}

extension ClientError.TLSFault {
  /// The smallest difference between the clocks of client and server that counts as a wrong clock, in milliseconds.
  private static let smallest: Int64 = 2_000

  /// The actual fault of the TLS connection: this fault, or a wrong clock of this machine.
  ///
  /// - Parameters:
  ///   - server: the server's time, and whether its certificate is valid at that time; nil if it did not respond.
  ///   - wall: this machine's wall clock in epoch milliseconds.
  /// - Returns: `clockAhead` or `clockBehind` if the server's time makes the certificate valid; otherwise this fault.
  func judged(by server: (date: Int64, isValid: Bool)?, wall: Int64) -> ClientError.TLSFault {
    guard let server, server.isValid, abs(server.date &- wall) > Self.smallest else { return self }
    return server.date < wall ? .clockAhead : .clockBehind
  }
}

extension ClientConfiguration {
  /// The time at which certificates are checked, in epoch milliseconds.
  ///
  /// The clock of a box without a battery starts in 1970, so the latest of the known times is the best estimate. File
  /// times count only if the wall clock is before the build time: a clock that was ahead for a while may have dated
  /// files in the future.
  func checkTime(wall: Int64, seen: Int64) -> Int64 {
    max(wall, buildTime, seen, wall < buildTime ? earliestTime : 0)
  }
}
