/// The date format of HTTP (RFC 9110 section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, always 29 bytes.
public enum HTTPDate {
  /// The text of a time in seconds since 1970, as ASCII.
  public static func bytes(epochSeconds: Int64) -> [UInt8] {
    var (days, seconds) = epochSeconds.quotientAndRemainder(dividingBy: 86_400)
    if seconds < 0 {
      seconds += 86_400
      days -= 1
    }
    let date = civil(daysSinceEpoch: days)
    // 1 January 1970 was a Thursday.
    let weekday = Int(((days % 7) + 11) % 7)
    var text: [UInt8] = []
    text.reserveCapacity(29)
    text += weekdays[weekday].utf8
    text += ", ".utf8
    append(&text, date.day)
    text += " \(months[Int(date.month) - 1]) ".utf8
    append(&text, date.year / 100)
    append(&text, date.year % 100)
    text.append(0x20)
    append(&text, seconds / 3600)
    text.append(0x3A)
    append(&text, seconds / 60 % 60)
    text.append(0x3A)
    append(&text, seconds % 60)
    text += " GMT".utf8
    return text
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func append(_ text: inout [UInt8], _ number: Int64) {
    text.append(UInt8(truncatingIfNeeded: 0x30 + number / 10 % 10))
    text.append(UInt8(truncatingIfNeeded: 0x30 + number % 10))
  }

  /// The Gregorian date of a day number, counting years from March so that the leap day comes last.
  private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = daysSinceEpoch + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
