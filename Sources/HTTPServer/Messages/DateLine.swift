internal import RegentHTTPCodec
internal import RegentPlatform

/// The header lines that every response has: Date, which is formatted once a second, and the configured common headers.
struct DateLine {
  private let standing: [UInt8]
  private(set) var bytes: [UInt8] = []
  private var validUntil: UInt64 = 0

  init(standing: CommonHeaders = CommonHeaders()) { self.standing = standing.lines }

  /// Formats the Date line again if its second has passed.
  ///
  /// `now` is the loop's clock in milliseconds.
  @inline(__always)
  mutating func refresh(now: UInt64) {
    if now >= validUntil { renew(now: now) }
  }

  private mutating func renew(now: UInt64) {
    let time = Clocks.wallMilliseconds()
    bytes =
      Array("Date: ".utf8) + HTTPDate.bytes(epochSeconds: time / 1000) + Array("\r\n".utf8) + standing
    validUntil = now + 1000 - UInt64(max(time % 1000, 0))
  }
}
