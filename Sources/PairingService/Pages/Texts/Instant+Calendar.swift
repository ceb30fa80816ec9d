// Conversions of a time for pages: seconds until another time, calendar day, ISO 8601.

internal import RegentHTTPCodec
internal import RegentPairing

extension Instant {
  /// The whole seconds from this time until `later`; zero when `later` is in the past.
  func seconds(until later: Instant) -> Int {
    Int(max(0, later.since(self).wholeMilliseconds) / 1000)
  }

  /// The day of this time in the Gregorian calendar, in UTC.
  var day: CivilDate {
    // The division rounds down, so that times before 1970 get the right day too.
    CivilDate(epochSeconds: milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0))
  }

  /// The time in ISO 8601 in UTC, such as `2026-11-20T09:30:00Z`, for `datetime` attributes.
  var iso8601: String { CivilDate.text(epochMilliseconds: milliseconds, fraction: false) }
}
