// Conversions of an instant for pages: seconds until another instant, calendar day, ISO 8601.

internal import RegentHTTPCodec
internal import RegentPairing

extension Instant {
  /// The whole seconds from `self` until `later`; zero when `later` is in the past.
  func seconds(until later: Instant) -> Int {
    Int(max(0, later.since(self).wholeMilliseconds) / 1000)
  }

  /// The day in the Gregorian calendar, in UTC.
  var day: CivilDate {
    // Rounded down, so that times before 1970 get the right day too.
    CivilDate(epochSeconds: milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0))
  }

  /// ISO 8601 in UTC, such as `2026-11-20T09:30:00Z`, for `datetime` attributes.
  var iso8601: String { CivilDate.text(epochMilliseconds: milliseconds, fraction: false) }
}
