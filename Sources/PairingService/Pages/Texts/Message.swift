/// A text of a locale file: either one text, or one text for each plural form.
struct Message: Sendable {
  /// A part of a text: characters that are already escaped for HTML, or a placeholder by its position in
  /// ``Message/gaps``.
  enum Part: Equatable, Sendable {
    case text([UInt8])
    case gap(Int)
  }

  /// The text without plural forms.
  ///
  /// Most texts have none, and a dictionary for each of them takes 100 KB in all.
  private let only: [Part]?
  private let forms: [PluralForm: [Part]]
  /// The names of the placeholders; ``Part/gap(_:)`` refers to them by position.
  let gaps: [String]

  /// Parses a text in which `{name}` is a placeholder.
  ///
  /// `sources` has the text of each plural form, or only `other` when the text has no plural forms. `known` are the
  /// placeholders in the order of the first language; nil when this is the first language.
  init(_ sources: [PluralForm: String], gaps known: [String]?) throws(Problem) {
    var names = known ?? []
    var seen: Set<String> = []
    var forms: [PluralForm: [Part]] = [:]
    for form in PluralForm.allCases {
      guard let source = sources[form] else { continue }
      let (parts, used) = try Message.parts(of: source, names: &names, mayAdd: known == nil)
      // The plural form for one may omit the number (“One minute ago”). Every other form must show it.
      if form != .one, sources.count > 1, !used.contains("count") {
        throw Problem("the form \(form.rawValue) does not show {count}")
      }
      seen.formUnion(used)
      forms[form] = parts
    }
    if sources.count > 1, !names.contains("count") { throw Problem("a counted text needs {count}") }
    for name in names where !seen.contains(name) { throw Problem("{\(name)} is missing") }
    only = forms.count == 1 ? forms[.other] : nil
    self.forms = only == nil ? forms : [:]
    self.gaps = names
  }

  struct Problem: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  /// The text in the plural form for a count; for nil, the text without plural forms.
  func parts(count: Int?, rule: PluralRule) -> [Part] {
    if let only { return only }
    let form = count.map { rule.form($0) } ?? .other
    return forms[form] ?? forms[.other] ?? []
  }

  private static func parts(
    of source: String, names: inout [String], mayAdd: Bool
  ) throws(Problem) -> ([Part], Set<String>) {
    var parts: [Part] = []
    var used: Set<String> = []
    var rest = source[...]
    while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else {
        throw Problem("a brace without its partner")
      }
      parts.append(text: rest[..<open])
      let name = String(rest[rest.index(after: open)..<close])
      guard !name.isEmpty, name.allSatisfy({ $0.isLetter && $0.isASCII }) else {
        throw Problem("{\(name)} is not a name")
      }
      if !names.contains(name) {
        guard mayAdd else { throw Problem("there is no {\(name)} in the first language") }
        names.append(name)
      }
      used.insert(name)
      parts.append(.gap(names.firstIndex(of: name) ?? 0))
      rest = rest[rest.index(after: close)...]
    }
    parts.append(text: rest)
    return (parts, used)
  }
}

extension [Message.Part] {
  fileprivate mutating func append(text: Substring) {
    guard !text.isEmpty else { return }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    Escaping.append(String(text), to: &bytes)
    append(.text(bytes))
  }
}
