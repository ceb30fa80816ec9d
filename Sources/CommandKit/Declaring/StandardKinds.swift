extension ValueKind where Value == String {
  /// The type of a value that is any text except an empty one.
  public static var text: ValueKind { text("TEXT") }

  /// The type of a value that is any text except an empty one, with this placeholder in help.
  public static func text(_ placeholder: String) -> ValueKind {
    ValueKind(placeholder, show: { $0 }) { text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem("is empty") }
      return text
    }
  }

  /// The type of a value that is the path of a file.
  ///
  /// The command checks whether the file exists.
  public static var file: ValueKind { path("FILE", .files) }

  /// The type of a value that is the path of a folder.
  ///
  /// The command checks whether the folder exists.
  public static var folder: ValueKind { path("DIR", .folders) }

  /// The type of a value that is one of the given words.
  public static func choice(_ words: String...) -> ValueKind {
    choice(words.map { ($0, $0) })
  }

  private static func path(_ placeholder: String, _ completion: ValueCompletion) -> ValueKind {
    ValueKind(placeholder, completion: completion, show: { $0 }) { text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem("is empty") }
      // The kernel would cut the path at the NUL byte and open another file.
      guard !text.utf8.contains(0) else { throw ValueProblem("contains a NUL byte") }
      return text
    }
  }
}

extension ValueKind where Value: Equatable {
  /// The type of a value that the user names by one of the given words.
  public static func choice(_ values: [(word: String, value: Value)]) -> ValueKind {
    let words = values.map(\.word)
    return ValueKind(
      wordList(words, between: "|"), completion: .words(words),
      show: { value in
        // A loop is used, because `first(where:)` makes short commands slower; see `wordList`.
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
  /// The type of a value that is one of the enumeration's cases, named by its raw value.
  public static var cases: ValueKind { choice(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension ValueKind where Value == Bool {
  /// The type of a value that is `on` or `off`, or one of the synonyms that environment files use.
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
  public static func integer(_ range: ClosedRange<Int>, _ placeholder: String = "N") -> ValueKind {
    ValueKind(placeholder, show: { String($0) }) { text throws(ValueProblem) in
      // `Int` would also accept "+5" and "-0".
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

  /// The type of a value that is a size in bytes: `512`, `64k`, `10M`, `1G`.
  ///
  /// Each unit is 1,024 times the one before.
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
  /// The type of a value that is a duration: `250ms`, `90s`, `10m`, `24h`, `30d`, or a combination such as `1h30m`.
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
