import FoundationEssentials
import PairingService

/// Adds the pseudo-language `qps` to the files: the English texts, longer and written from right to left, so that
/// layouts break here before they break in a real language.
func withPseudoLanguage(_ web: WebFiles) throws -> WebFiles {
  var web = web
  guard let english = web.contents["locales/en.json"] else { return web }
  let decoded = try localeTexts(english)
  let lines = decoded.sorted { $0.key < $1.key }.map { key, value in
    "\"\(key)\": \(value.stretched(key).json)"
  }
  web.put("locales/qps.json", Array("{\(lines.joined(separator: ",\n"))}".utf8))
  return web
}

/// A text of a locale file, plain or by plural form.
private enum LocaleText: Decodable {
  case plain(String)
  case forms([String: String])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self = .plain(text)
    } else {
      self = .forms(try container.decode([String: String].self))
    }
  }

  func stretched(_ key: String) -> LocaleText {
    switch key {
    case "language.name": .plain("Pseudo")
    case "language.direction": .plain("rtl")
    default:
      switch self {
      case .plain(let text): .plain(LocaleText.stretch(text))
      case .forms(let forms): .forms(forms.mapValues(LocaleText.stretch))
      }
    }
  }

  /// Adds Hebrew letters, which show the direction, and one very long word, as in German or Finnish.
  private static func stretch(_ text: String) -> String {
    "אב \(text) \(String(repeating: "גדה", count: max(1, min(text.count / 12, 9))))"
  }

  var json: String {
    switch self {
    case .plain(let text): LocaleText.quoted(text)
    case .forms(let forms):
      "{" + forms.map { "\"\($0)\": \(LocaleText.quoted($1))" }.joined(separator: ", ") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    guard let data = try? JSONEncoder().encode(text) else { return "\"\"" }
    return String(decoding: data, as: UTF8.self)
  }
}

private func localeTexts(_ bytes: [UInt8]) throws -> [String: LocaleText] {
  try JSONDecoder().decode([String: LocaleText].self, from: Data(bytes))
}
