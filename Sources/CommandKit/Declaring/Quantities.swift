// Parses and prints durations and sizes as users type them, without rounding.

private let durationUnits: [(suffix: String, milliseconds: Int64)] = [
  ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
]

/// Parses a duration of whole numbers with units in decreasing order, such as `1h30m`.
func parsedDuration(_ text: String) -> Duration? {
  var rest = text[...]
  var total: Int64 = 0
  var smallest = Int64.max
  repeat {
    let digits = rest.prefix(while: \.isASCIIDigit)
    rest = rest[digits.endIndex...]
    let word = rest.prefix { !$0.isASCIIDigit }
    rest = rest[word.endIndex...]
    guard let number = Int64(digits), let unit = durationUnits.first(where: { $0.suffix == word }),
      unit.milliseconds < smallest
    else { return nil }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit.milliseconds)
    let (sum, overflows) = total.addingReportingOverflow(product)
    guard !isTooLarge, !overflows else { return nil }
    (total, smallest) = (sum, unit.milliseconds)
  } while !rest.isEmpty
  return .milliseconds(total)
}

/// The duration in its shortest form with whole units, such as `90s`, `1d` or `0s`.
public func shownDuration(_ duration: Duration) -> String {
  let (seconds, attoseconds) = duration.components
  let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000)
  guard !isTooLarge else { return "\(seconds)s" }
  let milliseconds = whole + attoseconds / 1_000_000_000_000_000
  guard milliseconds != 0 else { return "0s" }
  for unit in durationUnits where milliseconds % unit.milliseconds == 0 {
    return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
  }
  return "\(milliseconds)ms"
}

private let sizeUnits: [(suffix: String, bytes: Int)] = [
  ("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10),
]

func parsedBytes(_ text: String) -> Int? {
  let digits = text.prefix(while: \.isASCIIDigit)
  let suffix = text[digits.endIndex...].lowercased()
  guard let number = Int(digits) else { return nil }
  if suffix.isEmpty { return number }
  guard let unit = sizeUnits.first(where: { $0.suffix.lowercased() == suffix }) else { return nil }
  let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit.bytes)
  return isTooLarge ? nil : product
}

/// The size in its shortest exact form, such as `64k`, `1G` or `1000`.
public func shownBytes(_ bytes: Int) -> String {
  for unit in sizeUnits where bytes != 0 && bytes % unit.bytes == 0 {
    return "\(bytes / unit.bytes)\(unit.suffix)"
  }
  return String(bytes)
}
