public import RegentJSON

extension Console {
  /// Prints one JSON document on a line of its own.
  ///
  /// What would harm a terminal is written as `\u` escapes, which change nothing for a program that reads it.
  public func print(json document: JSONValue) {
    draw(harmlessJSON(document) + "\n")
  }
}

extension Invocation {
  /// Answers with what was asked for: `document` with `--json`, else the table.
  public func show(_ document: @autoclosure () -> JSONValue, as table: @autoclosure () -> Table) {
    if wantsJSON { console.print(json: document()) } else { console.print(table()) }
  }

  /// Answers with what was asked for: `document` with `--json`, else the lines.
  public func show(
    _ document: @autoclosure () -> JSONValue, lines: @autoclosure () -> [String]
  ) {
    if wantsJSON { console.print(json: document()) } else { console.print(lines: lines()) }
  }
}

/// The document with every invisible or reordering character escaped; such characters stand only inside strings.
///
/// - Parameters:
///   - document: what to write.
///   - isPretty: on several lines, for people.
/// - Returns: the text.
public func harmlessJSON(_ document: JSONValue, isPretty: Bool = false) -> String {
  let text =
    isPretty ? String(decoding: document.bytes(.pretty), as: UTF8.self) : document.description
  if text.utf8.allSatisfy({ $0 < 0x7f }) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    // A line end inside a string is escaped already: this one is between two lines.
    guard isHarmful(scalar), scalar != "\n" else {
      result.unicodeScalars.append(scalar)
      continue
    }
    for unit in String(scalar).utf16 {
      let digits = String(unit, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
  return result
}
