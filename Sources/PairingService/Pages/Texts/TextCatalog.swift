internal import RegentJSON

/// The texts of all languages.
///
/// A key has the same number in every language.
struct TextCatalog: Sendable {
  /// All languages: the fallback first, the others in order of their tags.
  let languages: [LanguageTexts]
  private let numbers: [String: Int]

  /// The keys of texts that Swift code uses, as opposed to templates.
  static let keysOfCode: Set<String> = Set(
    ["language.name", "language.direction"] + LanguageTexts.timeKeys + LanguageTexts.monthKeys)

  /// The language that has every key, used when the viewer's languages are not available.
  static let fallback = "en"

  /// Reads the locale files of the folder.
  ///
  /// Throws unless all have the same keys and placeholders.
  init(_ web: WebFiles) throws(WebFileError) {
    let path = { (tag: String) in "locales/\(tag).json" }
    var sources: [(tag: String, texts: LocaleSource)] = []
    for (name, bytes) in web.inside("locales", suffix: ".json") {
      let tag = String(name.dropLast(".json".count))
      sources.append((tag, try LocaleSource(file: "locales/\(name)", bytes)))
    }
    guard let first = sources.firstIndex(where: { $0.tag == TextCatalog.fallback }) else {
      throw WebFileError(
        path(TextCatalog.fallback), "the file is missing; all other languages fall back on it")
    }
    sources.insert(sources.remove(at: first), at: 0)

    var numbers: [String: Int] = [:]
    for key in sources[0].texts.messages.keys.sorted() { numbers[key] = numbers.count }
    for key in TextCatalog.keysOfCode.sorted() where numbers[key] == nil {
      throw WebFileError(path(TextCatalog.fallback), "the text \(key) is missing")
    }
    var languages: [LanguageTexts] = []
    for (tag, texts) in sources {
      languages.append(
        try LanguageTexts(
          tag: tag, file: path(tag), source: texts, numbers: numbers, first: languages.first))
    }
    self.numbers = numbers
    self.languages = languages
  }

  var keys: Set<String> { Set(numbers.keys) }

  func number(of key: String) -> Int? { numbers[key] }

  func gaps(of number: Int) -> [String] { languages[0].gaps(of: number) }
}

/// A parsed locale file that was not yet compared with the others.
struct LocaleSource {
  var messages: [String: [PluralForm: String]] = [:]

  init(file: String, _ bytes: [UInt8]) throws(WebFileError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(reading: bytes)
    } catch {
      throw WebFileError(file, "\(error)")
    }
    guard let object = value.object else { throw WebFileError(file, "an object was expected") }
    for member in object.members {
      messages[member.name] = try LocaleSource.forms(member, file: file)
    }
  }

  private static func forms(
    _ member: JSONObject.Member, file: String
  ) throws(WebFileError) -> [PluralForm: String] {
    if let text = member.value.string { return [.other: text] }
    guard let object = member.value.object, !object.isEmpty else {
      throw WebFileError(file, "\(member.name): a text or an object of plural forms was expected")
    }
    var forms: [PluralForm: String] = [:]
    for form in object.members {
      guard let name = PluralForm(rawValue: form.name), let text = form.value.string else {
        throw WebFileError(file, "\(member.name): \(form.name) is no plural form with a text")
      }
      forms[name] = text
    }
    return forms
  }
}
