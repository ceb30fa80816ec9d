import RegentHTTPCodec

// A certificate that is not valid now may be a bad one, or this machine's clock is wrong. The server's own `Date` tells
// which. It is asked for without a check of the certificate, on a connection of its own that nothing else is sent on:
// the answer chooses the words of the error, and is never used as a time.

extension ClientRequest {
  /// How long the question for a server's time may take.
  static let serverTimeMilliseconds = 3_000

  /// A question that shows nothing of the caller.
  static func serverTime(of url: ClientURL) -> ClientRequest {
    var request = ClientRequest(.head, url.root)
    request.responseLimit = 0
    return request
  }
}

extension ClientError.TLSFault {
  /// A clock that differs by less than this explains no refusal; milliseconds.
  private static let smallest: Int64 = 2_000

  /// What is wrong after all.
  ///
  /// - Parameters:
  ///   - server: the server's clock and whether its certificate is valid by it; `nil` when it did not say.
  ///   - wall: this machine's clock.
  /// - Returns: this fault, or a wrong clock.
  func judged(by server: (date: Int64, isValid: Bool)?, wall: Int64) -> ClientError.TLSFault {
    guard let server, server.isValid, abs(server.date &- wall) > Self.smallest else { return self }
    return server.date < wall ? .clockAhead : .clockBehind
  }
}

extension ClientConfiguration {
  /// The time at which certificates are judged.
  ///
  /// A box without a battery starts in 1970: the latest of what is known is the nearest to the truth. A clock that is
  /// not before the build time is not compared with files, whose times may come from a clock that was ahead.
  func checkTime(wall: Int64, seen: Int64) -> Int64 {
    max(wall, buildTime, seen, wall < buildTime ? earliestTime : 0)
  }
}
