internal import RegentHTTPCodec
internal import RegentPlatform

/// What every reply carries: the Date header line, made anew once a second, and the lines that never change.
struct DateLine {
  private let standing: [UInt8]
  private(set) var bytes: [UInt8] = []
  private var validUntil: UInt64 = 0

  init(standing: StandingHeaders = StandingHeaders()) { self.standing = standing.lines }

  /// Makes the line anew when its second is over; `now` is the loop's clock.
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
