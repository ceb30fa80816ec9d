/// Dates in HTTP headers (RFC 9110 §5.6.7, only IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Times are seconds since 1970. This type does not read the clock.
public enum HTTPDate {
  /// The length of every date in HTTP headers, in bytes.
  public static let length = 29

  /// The latest time that can be written: the last second of the year 9999, in seconds since 1970.
  public static let latest: Int64 = 253_402_300_799

  /// Formats a time as a date for HTTP headers.
  ///
  /// Clamps it to the years 0000 to 9999.
  public static func text(epochSeconds: Int64) -> String {
    String(decoding: bytes(epochSeconds: epochSeconds), as: UTF8.self)
  }

  /// Formats a time as the ASCII bytes of a date for HTTP headers.
  public static func bytes(epochSeconds: Int64) -> [UInt8] {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(length)
    append(epochSeconds: epochSeconds, to: &buffer)
    return buffer
  }

  private static func append(epochSeconds: Int64, to buffer: inout [UInt8]) {
    let seconds = min(max(epochSeconds, -62_167_219_200), latest)
    let day = floorDivide(seconds, 86_400)
    let secondOfDay = Int(seconds - day * 86_400)
    let date = CivilDate(daysSince1970: day)
    buffer.append(contentsOf: weekdays[weekday(day)].utf8)
    buffer.append(contentsOf: ", ".utf8)
    appendDigits(date.day, 2, &buffer)
    buffer.append(Characters.space)
    buffer.append(contentsOf: months[date.month - 1].utf8)
    buffer.append(Characters.space)
    appendDigits(date.year, 4, &buffer)
    buffer.append(Characters.space)
    appendDigits(secondOfDay / 3600, 2, &buffer)
    buffer.append(Characters.colon)
    appendDigits(secondOfDay / 60 % 60, 2, &buffer)
    buffer.append(Characters.colon)
    appendDigits(secondOfDay % 60, 2, &buffer)
    buffer.append(contentsOf: " GMT".utf8)
  }

  /// Parses a date of an HTTP header.
  ///
  /// Returns nil for the obsolete formats, a wrong weekday, or a day or time that does not exist.
  public static func epochSeconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == length else { return nil }
    let part = { (range: Range<Int>) in String(decoding: bytes[range], as: UTF8.self) }
    guard part(3..<5) == ", ", part(7..<8) == " ", part(11..<12) == " ", part(16..<17) == " ",
      part(19..<20) == ":", part(22..<23) == ":", part(25..<29) == " GMT",
      let day = number(bytes[5..<7]), let year = number(bytes[12..<16]),
      let hour = number(bytes[17..<19]), let minute = number(bytes[20..<22]),
      let second = number(bytes[23..<25]),
      let weekday = weekdays.firstIndex(of: part(0..<3)),
      let month = months.firstIndex(of: part(8..<11))
    else { return nil }
    // A leap second is written as second 60 of the last minute of a day, and counts as the second after it.
    guard hour < 24, minute < 60, second < 60 || (second == 60 && hour == 23 && minute == 59)
    else { return nil }
    let date = CivilDate(year: year, month: month + 1, day: day)
    let days = date.daysSince1970
    guard day > 0, CivilDate(daysSince1970: days) == date, self.weekday(days) == weekday
    else { return nil }
    return days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func weekday(_ daysSince1970: Int64) -> Int {
    let day = daysSince1970 + 4
    return Int(day - floorDivide(day, 7) * 7)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard digit.isDigit else { return nil }
      value = value * 10 + Int(digit - Characters.zero)
    }
    return value
  }

  private static func appendDigits(_ value: Int, _ count: Int, _ buffer: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<count { divisor *= 10 }
    while divisor > 0 {
      buffer.append(Characters.zero + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }
}
