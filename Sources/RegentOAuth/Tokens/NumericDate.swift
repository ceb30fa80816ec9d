internal import RegentJSON
internal import RegentPairing

extension JSONValue {
  /// The time of a JWT claim: seconds since 1970, which may have a fraction (RFC 7519 §2).
  var numericDate: Instant? {
    if let seconds = int64 { return Instant(seconds: seconds) }
    // Times after the year 9999 are refused.
    guard let seconds = double, (0..<253_402_300_800).contains(seconds) else { return nil }
    return Instant(milliseconds: Int64(seconds * 1000))
  }
}
