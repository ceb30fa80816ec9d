/// The plural forms of a text, with the names and meanings of Unicode's CLDR.
enum PluralForm: String, CaseIterable, Sendable {
  case one, many, other
}

/// The rule by which a language picks the plural form for a whole number.
struct PluralRule: Sendable {
  /// The plural forms that a text with plural forms must have.
  ///
  /// A text may leave out `many`; then `other` is used.
  let required: Set<PluralForm>
  let form: @Sendable (Int) -> PluralForm

  /// Makes the rule of a language; nil for a language that has no rule here yet.
  init?(language: String) {
    switch language {
    case "en", "qps":
      // qps is the pseudo-language of the preview: English shown from right to left.
      required = [.one, .other]
      form = { $0 == 1 ? .one : .other }
    case "it", "es":
      // In this language, whole millions need "de" or "di" before the noun: un millón de pantallas.
      required = [.one, .other]
      form = { count in
        if count == 1 { return .one }
        return count != 0 && count % 1_000_000 == 0 ? .many : .other
      }
    case "ko":
      required = [.other]
      form = { _ in .other }
    default: return nil
    }
  }
}
