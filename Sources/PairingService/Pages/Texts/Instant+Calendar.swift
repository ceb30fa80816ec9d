// How pages say an instant: the seconds to it, its day in the calendar, its form for machines.

internal import Pairing

extension Instant {
  /// Whole seconds from `self` until `later`; zero when that is past.
  func seconds(until later: Instant) -> Int {
    Int(max(0, later.since(self).wholeMilliseconds) / 1000)
  }

  /// The day in the Gregorian calendar, in UTC.
  var day: (year: Int, month: Int, day: Int) {
    // Days since 0000-03-01, so that the leap day is the last of its year; 146,097 days are 400 years.
    let days = (epochSeconds - secondOfDay) / 86_400 + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// Rounded down, also before 1970.
  private var epochSeconds: Int {
    let seconds = milliseconds / 1000
    return Int(milliseconds % 1000 < 0 ? seconds - 1 : seconds)
  }

  private var secondOfDay: Int { (epochSeconds % 86_400 + 86_400) % 86_400 }

  /// `2026-11-20T09:30:00Z`, for `datetime` attributes.
  var iso8601: String {
    let (year, month, day) = day
    let second = secondOfDay
    return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(padded(second / 3600)):"
      + "\(padded(second / 60 % 60)):\(padded(second % 60))Z"
  }
}

private func padded(_ number: Int, _ width: Int = 2) -> String {
  let digits = "\(number)"
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
