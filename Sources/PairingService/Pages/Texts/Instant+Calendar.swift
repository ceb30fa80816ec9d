// How pages say an instant: the seconds to it, its day in the calendar, its form for machines.

internal import RegentHTTPCodec
internal import RegentPairing

extension Instant {
  /// Whole seconds from `self` until `later`; zero when that is past.
  func seconds(until later: Instant) -> Int {
    Int(max(0, later.since(self).wholeMilliseconds) / 1000)
  }

  /// The day in the Gregorian calendar, in UTC.
  var day: CivilDate {
    // Rounded down, also before 1970.
    CivilDate(epochSeconds: milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0))
  }

  /// `2026-11-20T09:30:00Z`, for `datetime` attributes.
  var iso8601: String { CivilDate.text(epochMilliseconds: milliseconds, fraction: false) }
}
