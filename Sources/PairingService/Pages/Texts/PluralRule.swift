/// The forms a counted text may have; names and meaning are Unicode's (CLDR).
enum PluralForm: String, CaseIterable, Sendable {
  case one, many, other
}

/// Which form a whole number takes in a language.
struct PluralRule: Sendable {
  /// The forms that a counted text must have; a text may leave out `many`, then `other` serves.
  let required: Set<PluralForm>
  let form: @Sendable (Int) -> PluralForm

  /// The rule of a language, nil for a language nobody has looked up yet.
  init?(language: String) {
    switch language {
    case "en", "qps":
      // qps is the made-up language of the preview, English that is shown from right to left.
      required = [.one, .other]
      form = { $0 == 1 ? .one : .other }
    case "it", "es":
      // Whole millions take "de"/"di" before the noun: un millón de pantallas.
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
