/// Reads the Date header of a response (RFC 9110 section 5.6.7).
enum ServerDate {
  /// The time in epoch milliseconds; `nil` for anything but the one form that servers may send today.
  ///
  /// - Parameter text: for example "Sun, 06 Nov 1994 08:49:37 GMT".
  /// - Returns: epoch milliseconds.
  static func epochMilliseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 29, bytes[3] == UInt8(ascii: ","),
      text.hasSuffix(" GMT"), bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":"),
      [4, 7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
      let day = number(bytes[5..<7]), let year = number(bytes[12..<16]),
      let hour = number(bytes[17..<19]), let minute = number(bytes[20..<22]),
      let second = number(bytes[23..<25]),
      let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)),
      hour < 24, minute < 60, second <= 60, year >= 1970, day >= 1,
      day <= daysInMonth(month + 1, year)
    else { return nil }
    let days = daysSinceEpoch(year: year, month: month + 1, day: day)
    // The weekday must be the date's own: a garbled header is not half believed.
    guard bytes[0..<3].elementsEqual(weekdays[Int((days + 4) % 7)].utf8) else { return nil }
    return (days * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)) * 1_000
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var value: Int64 = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      value = value * 10 + Int64(digit - 0x30)
    }
    return value
  }

  private static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func daysInMonth(_ month: Int, _ year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func daysSinceEpoch(year: Int64, month: Int, day: Int64) -> Int64 {
    let before = year - 1
    let leapDays = (before / 4 - before / 100 + before / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400)
    var days = (year - 1970) * 365 + leapDays
    for earlier in 1..<max(month, 1) { days += daysInMonth(earlier, year) }
    return days + day - 1
  }
}
