internal import HTTPCodec

/// The Date header line, made anew once a second.
struct DateLine {
  private(set) var bytes: [UInt8] = []
  private var validUntil: UInt64 = 0

  /// Makes the line anew when its second is over; `now` is the loop's clock.
  @inline(__always)
  mutating func refresh(now: UInt64) {
    if now >= validUntil { renew(now: now) }
  }

  private mutating func renew(now: UInt64) {
    let (seconds, milliseconds) = wallClock()
    bytes = Array("Date: ".utf8) + HTTPDate.bytes(epochSeconds: seconds) + Array("\r\n".utf8)
    validUntil = now + 1000 - min(milliseconds, 999)
  }
}
