/// A day of the Gregorian calendar, which is also used for dates before its introduction.
///
/// The conversions count in 400-year cycles that begin in March, so that the leap day is the last day of a year.
public struct CivilDate: Equatable, Sendable {
  /// The year; year 0 is the year before year 1.
  public let year: Int
  /// The month, 1 to 12.
  public let month: Int
  /// The day of the month, 1 to 31.
  public let day: Int

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates the date of the day that is `daysSince1970` days after 1970-01-01.
  public init(daysSince1970: Int64) {
    let shifted = daysSince1970 + 719_468
    let cycle = floorDivide(shifted, 146_097)
    let dayOfCycle = shifted - cycle * 146_097
    let leapDays = dayOfCycle / 1460 - dayOfCycle / 36_524 + dayOfCycle / 146_096
    let yearOfCycle = (dayOfCycle - leapDays) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = Int(dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    month = Int(marchMonth < 10 ? marchMonth + 3 : marchMonth - 9)
    year = Int(yearOfCycle + cycle * 400) + (month <= 2 ? 1 : 0)
  }

  /// Creates the date in UTC of a time in seconds since 1970, which may be negative.
  public init(epochSeconds: Int64) {
    self.init(daysSince1970: floorDivide(epochSeconds, 86_400))
  }

  var daysSince1970: Int64 {
    let marchYear = Int64(month <= 2 ? year - 1 : year)
    let cycle = floorDivide(marchYear, 400)
    let yearOfCycle = marchYear - cycle * 400
    let marchMonth = Int64(month > 2 ? month - 3 : month + 9)
    let dayOfYear = (153 * marchMonth + 2) / 5 + Int64(day) - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * 146_097 + dayOfCycle - 719_468
  }

  /// The date and time in UTC as in RFC 3339: `2026-11-20T10:05:00Z`, or with milliseconds, such as `.123`, before the
  /// `Z`.
  public static func text(epochMilliseconds: Int64, fraction: Bool) -> String {
    let seconds = floorDivide(epochMilliseconds, 1000)
    let date = CivilDate(epochSeconds: seconds)
    let time = seconds - date.daysSince1970 * 86_400
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }
    let rest = fraction ? "." + padded((epochMilliseconds % 1000 + 1000) % 1000, 3) : ""
    return "\(padded(Int64(date.year), 4))-\(padded(Int64(date.month), 2))-"
      + "\(padded(Int64(date.day), 2))T\(clock.joined(separator: ":"))\(rest)Z"
  }
}

private func padded(_ number: Int64, _ count: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, count - digits.count)) + digits
}

/// Division that rounds towards negative infinity.
func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
  value % divisor < 0 ? value / divisor - 1 : value / divisor
}
