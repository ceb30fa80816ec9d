public import RegentJSON

extension Console {
  /// Prints one JSON document on one line.
  ///
  /// Characters that could mislead a terminal are written as `\u` escapes, which are the same for a JSON parser.
  public func print(json document: JSONValue) {
    draw(harmlessJSON(document) + "\n")
  }
}

extension Invocation {
  /// Prints `document` with `--json`, otherwise the table.
  public func show(_ document: @autoclosure () -> JSONValue, as table: @autoclosure () -> Table) {
    if wantsJSON { console.print(json: document()) } else { console.print(table()) }
  }

  /// Prints `document` with `--json`, otherwise the lines.
  public func show(
    _ document: @autoclosure () -> JSONValue, lines: @autoclosure () -> [String]
  ) {
    if wantsJSON { console.print(json: document()) } else { console.print(lines: lines()) }
  }
}

/// The JSON text with invisible and reordering characters escaped; they can only occur inside strings.
///
/// - Parameters:
///   - document: the document to write.
///   - isPretty: whether to use several lines, for people.
/// - Returns: the JSON text.
public func harmlessJSON(_ document: JSONValue, isPretty: Bool = false) -> String {
  let text =
    isPretty ? String(decoding: document.bytes(.pretty), as: UTF8.self) : document.description
  if text.utf8.allSatisfy({ $0 < 0x7f }) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    // Line breaks inside strings are already escaped, so this one separates two lines of the output.
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
