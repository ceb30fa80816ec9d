internal import RegentJSON
internal import RegentPairing

extension JSONValue {
  /// A moment as JWTs write it: seconds, of which some libraries write fractions (RFC 7519 §2).
  var numericDate: Instant? {
    if let seconds = int64 { return Instant(seconds: seconds) }
    // Beyond the year 9999 nobody means a time.
    guard let seconds = double, (0..<253_402_300_800).contains(seconds) else { return nil }
    return Instant(milliseconds: Int64(seconds * 1000))
  }
}
