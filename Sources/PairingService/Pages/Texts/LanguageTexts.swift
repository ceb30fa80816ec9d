internal import RegentHTTPCodec
internal import RegentPairing

/// The texts of one language, and its way to write times and durations.
struct LanguageTexts: Sendable {
  /// The language's BCP 47 tag, as in the HTML attribute `lang`.
  let tag: String
  /// The language's name in the language itself.
  let name: String
  let direction: String
  private let rule: PluralRule
  private let messages: [Message]
  private let times: [Int]
  private let months: [Int]

  static let timeKeys = [
    "time.now", "time.minutes-ago", "time.hours-ago", "time.days-ago", "time.date",
    "time.under-minute", "time.minutes",
  ]
  static let monthKeys = (1...12).map { "month.\($0)" }

  init(
    tag: String, file: String, source: LocaleSource, numbers: [String: Int], first: LanguageTexts?
  ) throws(WebFileError) {
    guard let rule = PluralRule(language: tag) else {
      throw WebFileError(file, "there is no plural rule for \(tag); add one to PluralRule")
    }
    if let extra = source.messages.keys.sorted().first(where: { numbers[$0] == nil }) {
      throw WebFileError(file, "\(extra) is not in locales/\(TextCatalog.fallback).json")
    }
    var messages: [Message] = []
    for (key, number) in numbers.sorted(by: { $0.value < $1.value }) {
      guard let forms = source.messages[key] else {
        throw WebFileError(file, "the text \(key) is missing")
      }
      let isCounted = forms.values.contains { $0.contains("{count}") }
      let required = isCounted ? rule.required : [.other]
      if let form = required.first(where: { forms[$0] == nil }) {
        throw WebFileError(file, "\(key): the plural form \(form.rawValue) is missing")
      }
      do throws(Message.Problem) {
        messages.append(try Message(forms, gaps: first?.messages[number].gaps))
      } catch {
        throw WebFileError(file, "\(key): \(error.text)")
      }
    }
    self.tag = tag
    self.rule = rule
    self.messages = messages
    self.times = LanguageTexts.timeKeys.map { numbers[$0] ?? 0 }
    self.months = LanguageTexts.monthKeys.map { numbers[$0] ?? 0 }
    let plain = { (key: String) in source.messages[key]?[.other] ?? "" }
    self.name = plain("language.name")
    self.direction = plain("language.direction")
    guard direction == "ltr" || direction == "rtl" else {
      throw WebFileError(file, "language.direction is ltr or rtl")
    }
  }

  func gaps(of number: Int) -> [String] { messages[number].gaps }

  func parts(of number: Int, count: Int?) -> [Message.Part] {
    messages[number].parts(count: count, rule: rule)
  }

  /// Formats a time as “just now”, “3 minutes ago”, “2 hours ago”, “5 days ago” or a date; escaped for HTML.
  func ago(_ moment: Instant, now: Instant) -> [UInt8] {
    let seconds = moment.seconds(until: now)
    return switch seconds {
    // Times in the future are “just now” too, because the clocks of two machines may differ a little.
    case ..<60: filled(times[0], nil)
    case ..<3_600: filled(times[1], seconds / 60)
    case ..<86_400: filled(times[2], seconds / 3_600)
    case ..<(30 * 86_400): filled(times[3], seconds / 86_400)
    default: date(moment)
    }
  }

  /// Formats a duration as “less than a minute” or “3 minutes”; escaped for HTML.
  ///
  /// Minutes are rounded up: 61 seconds are “2 minutes”.
  func duration(_ seconds: Int) -> [UInt8] {
    seconds < 60 ? filled(times[5], nil) : filled(times[6], (seconds + 59) / 60)
  }

  private func date(_ moment: Instant) -> [UInt8] {
    let date = moment.day
    let gaps = gaps(of: times[4])
    return parts(of: times[4], count: nil).flatMap { part -> [UInt8] in
      switch part {
      case .text(let bytes): return bytes
      case .gap(let place):
        switch gaps[place] {
        case "year": return Array("\(date.year)".utf8)
        case "month": return filled(months[date.month - 1], nil)
        default: return Array("\(date.day)".utf8)
        }
      }
    }
  }

  private func filled(_ number: Int, _ count: Int?) -> [UInt8] {
    parts(of: number, count: count).flatMap { part -> [UInt8] in
      switch part {
      case .text(let bytes): bytes
      case .gap: Array("\(count ?? 0)".utf8)
      }
    }
  }
}
