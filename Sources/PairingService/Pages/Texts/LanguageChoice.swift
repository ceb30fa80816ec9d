/// Chooses the language of a page.
enum LanguageChoice {
  /// Picks a language: the one that the viewer chose, else the best match for `Accept-Language` (RFC 9110 section
  /// 12.5.4), else the first offered one.
  ///
  /// - Parameters:
  /// - offered: the tags of the available languages, the fallback first.
  /// - chosen: the language that the viewer selected on an earlier page.
  /// - acceptLanguage: the value of the header.
  /// - Returns: the position of the language in `offered`.
  static func pick(_ offered: [String], chosen: String?, acceptLanguage: String?) -> Int {
    if let chosen, let position = offered.firstIndex(of: chosen) { return position }
    for range in ranges(acceptLanguage ?? "") {
      if range == "*" { return 0 }
      if let position = lookUp(range, in: offered) { return position }
    }
    return 0
  }

  /// Finds the offered language for a language range (RFC 4647 section 3.4).
  ///
  /// The range is shortened until a language matches: `it-CH` finds `it`.
  private static func lookUp(_ range: String, in offered: [String]) -> Int? {
    var steps = range.split(separator: "-")
    while !steps.isEmpty {
      let tag = steps.joined(separator: "-")
      if let position = offered.firstIndex(where: { $0.lowercased() == tag }) { return position }
      steps.removeLast()
    }
    return nil
  }

  /// Parses the language ranges of an `Accept-Language` header in lower case, the highest weight first.
  ///
  /// Ranges of weight 0 and malformed ones are left out.
  private static func ranges(_ header: String) -> [String] {
    // Browsers send short headers. Parsing a longer header would only cost time.
    guard header.utf8.count <= 1_000 else { return [] }
    var ranges: [(name: String, weight: Int)] = []
    for element in header.split(separator: ",") {
      let parts = element.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
      guard parts.count <= 2, let name = parts.first, isRange(name) else { continue }
      var weight = 1000
      if parts.count == 2 {
        guard let given = LanguageChoice.weight(parts[1]) else { continue }
        weight = given
      }
      if weight > 0 { ranges.append((name.lowercased(), weight)) }
    }
    // Language ranges of equal weight keep their order.
    return ranges.enumerated().sorted {
      ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset)
    }.map(\.element.name)
  }

  private static func isRange(_ text: Substring) -> Bool {
    if text == "*" { return true }
    let steps = text.split(separator: "-", omittingEmptySubsequences: false)
    return steps.allSatisfy { step in
      (1...8).contains(step.utf8.count)
        && step.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || isDigit($0) }
    }
  }

  /// Parses the weight of a language range, such as `q=0.85`, as thousandths.
  private static func weight(_ text: Substring) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 3, bytes[0] | 0x20 == UInt8(ascii: "q"), bytes[1] == UInt8(ascii: "="),
      bytes[2] == UInt8(ascii: "0") || bytes[2] == UInt8(ascii: "1"), bytes.count <= 7
    else { return nil }
    var thousandths = Int(bytes[2] - 0x30) * 1000
    guard bytes.count > 3 else { return thousandths }
    guard bytes[3] == UInt8(ascii: ".") else { return nil }
    var unit = 100
    for byte in bytes[4...] {
      guard isDigit(byte) else { return nil }
      thousandths += Int(byte - 0x30) * unit
      unit /= 10
    }
    return thousandths <= 1000 ? thousandths : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.utf8.first, first == 0x20 || first == 0x09 { text = text.dropFirst() }
    while let last = text.utf8.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
    return text
  }
}
