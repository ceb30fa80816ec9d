extension ValueKind where Value == String {
  /// Any text that is not empty.
  public static var text: ValueKind { text("TEXT") }

  /// Any text that is not empty, called something in help.
  public static func text(_ placeholder: String) -> ValueKind {
    ValueKind(placeholder, show: { $0 }) { text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem("is empty") }
      return text
    }
  }

  /// The path of a file; whether it exists is for the command to find out.
  public static var file: ValueKind { path("FILE", .files) }

  /// The path of a folder; whether it exists is for the command to find out.
  public static var folder: ValueKind { path("DIR", .folders) }

  /// One of the words given.
  public static func choice(_ words: String...) -> ValueKind {
    choice(words.map { ($0, $0) })
  }

  private static func path(_ placeholder: String, _ completion: ValueCompletion) -> ValueKind {
    ValueKind(placeholder, completion: completion, show: { $0 }) { text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem("is empty") }
      // The kernel would cut it there and open another file.
      guard !text.utf8.contains(0) else { throw ValueProblem("contains a NUL byte") }
      return text
    }
  }
}

extension ValueKind where Value: Equatable {
  /// One of the words given, each standing for a value.
  public static func choice(_ values: [(word: String, value: Value)]) -> ValueKind {
    let words = values.map(\.word)
    return ValueKind(
      wordList(words, between: "|"), completion: .words(words),
      show: { value in
        // Not by `first(where:)`: see `wordList`.
        for choice in values where choice.value == value { return choice.word }
        return ""
      },
      read: { text throws(ValueProblem) in
        for choice in values where choice.word == text { return choice.value }
        let nearest = nearest(to: text, among: words)
        throw ValueProblem(
          "is not one of \(words.joined(separator: ", "))",
          hint: nearest.map { "did you mean \($0)?" })
      })
  }
}

extension ValueKind
where Value: RawRepresentable & CaseIterable & Equatable, Value.RawValue == String {
  /// One of the cases, by its raw value.
  public static var cases: ValueKind { choice(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension ValueKind where Value == Bool {
  /// `on` or `off`, and the words that environment files use for them.
  public static var onOff: ValueKind {
    ValueKind("on|off", completion: .words(["on", "off"]), show: { $0 ? "on" : "off" }) {
      text throws(ValueProblem) in
      switch text {
      case "on", "true", "yes", "1": return true
      case "off", "false", "no", "0": return false
      default: throw ValueProblem("is neither on nor off")
      }
    }
  }
}

extension ValueKind where Value == Int {
  /// A whole number in a range.
  public static func integer(_ range: ClosedRange<Int>, _ placeholder: String = "N") -> ValueKind {
    ValueKind(placeholder, show: { String($0) }) { text throws(ValueProblem) in
      // `Int` alone would take "+5" and "-0".
      let digits = text.hasPrefix("-") && range.lowerBound < 0 ? text.dropFirst() : text[...]
      guard digits.allSatisfy(\.isASCIIDigit), let number = Int(text) else {
        throw ValueProblem(
          "is not a whole number",
          hint: "use a number from \(range.lowerBound) to \(range.upperBound)")
      }
      guard range.contains(number) else {
        throw ValueProblem("is not between \(range.lowerBound) and \(range.upperBound)")
      }
      return number
    }
  }

  /// An amount of memory in bytes: `512`, `64k`, `10M`, `1G` (1,024 at each step).
  public static func bytes(_ range: ClosedRange<Int>) -> ValueKind {
    ValueKind("SIZE", show: { shownBytes($0) }) { text throws(ValueProblem) in
      guard let bytes = parsedBytes(text) else {
        throw ValueProblem("is not a size", hint: "use a form such as 512, 64k, 10M or 1G")
      }
      guard range.contains(bytes) else {
        throw ValueProblem(
          "is not between \(shownBytes(range.lowerBound)) and \(shownBytes(range.upperBound))")
      }
      return bytes
    }
  }
}

extension ValueKind where Value == Duration {
  /// A length of time: `250ms`, `90s`, `10m`, `24h`, `30d`, or several together as `1h30m`.
  public static func duration(_ range: ClosedRange<Duration>) -> ValueKind {
    ValueKind("DURATION", show: { shownDuration($0) }) { text throws(ValueProblem) in
      guard let duration = parsedDuration(text) else {
        throw ValueProblem("is not a duration", hint: "use a form such as 250ms, 90s, 10m, 24h or 30d")
      }
      guard range.contains(duration) else {
        throw ValueProblem(
          "is not between \(shownDuration(range.lowerBound)) and \(shownDuration(range.upperBound))"
        )
      }
      return duration
    }
  }
}

extension Character {
  var isASCIIDigit: Bool { self >= "0" && self <= "9" }
}
