package import RegentPairing

/// What surrounds every page: language, protection of its forms, who is signed in.
package struct PageFrame: Sendable {
  /// The language of the page, from `PhonePages.language(chosen:acceptLanguage:)`.
  package var language: PageLanguage
  /// The time that “3 minutes ago” counts from.
  package var now: Instant
  /// The token that every form of the page sends back as `csrf`.
  package var formToken: String
  /// Where a GET shows this page again: the language switch returns there.
  package var here: SafePath
  /// Whether `--public-url` says `http` and is on a network: then the page says what that means.
  package var isPlainHTTP: Bool
  /// Who is signed in on this phone.
  package var viewer: ViewerLabel?
  /// Whose app the screen runs, on the pages of one code.
  package var brand: Brand?

  package init(
    language: PageLanguage, now: Instant, formToken: String, here: SafePath,
    isPlainHTTP: Bool = false, viewer: ViewerLabel? = nil, brand: Brand? = nil
  ) {
    self.language = language
    self.now = now
    self.formToken = formToken
    self.here = here
    self.isPlainHTTP = isPlainHTTP
    self.viewer = viewer
    self.brand = brand
  }
}

/// One of the languages that there are texts for.
package struct PageLanguage: Hashable, Sendable {
  /// The tag, as in `lang` and in the form field `language`.
  package let tag: String
  let position: Int
}

/// Who is signed in.
package struct ViewerLabel: Sendable {
  /// The account's name.
  package let name: ForeignText
  /// The provider's name.
  package let provider: ForeignText

  /// A viewer from the two names.
  package init(name: ForeignText, provider: ForeignText) {
    self.name = name
    self.provider = provider
  }
}

extension ViewerLabel: TemplateView {
  package static let fields: [TemplateField<ViewerLabel>] = [
    .foreign("name") { $0.name },
    .foreign("provider") { $0.provider },
  ]
}

/// A requestor or provider as people see it.
package struct Brand: Sendable {
  package let name: ForeignText
  /// Where this service serves the logo; logos of other hosts are not shown.
  package let logo: SafePath?
  /// The colour of buttons and links.
  package let accent: AccentColor?

  package init(name: ForeignText, logo: SafePath? = nil, accent: AccentColor? = nil) {
    self.name = name
    self.logo = logo
    self.accent = accent
  }
}

extension Brand: TemplateView {
  package static let fields: [TemplateField<Brand>] = [
    .foreign("name") { $0.name },
    .text("initial") { $0.name.initial },
    .path("logo") { $0.logo },
    .path("styleSheet") { $0.accent?.path },
  ]
}

/// A language in the switch at the foot of the page.
struct LanguageOption: TemplateView {
  let tag: String
  let name: String
  let direction: String
  let isCurrent: Bool

  static let fields: [TemplateField<LanguageOption>] = [
    .text("tag") { $0.tag },
    .text("name") { $0.name },
    .text("direction") { $0.direction },
    .flag("isCurrent") { $0.isCurrent },
  ]
}

/// The frame together with what the catalog of texts knows: the outermost record of every template.
struct FilledFrame: TemplateView {
  let frame: PageFrame
  let direction: String
  let languages: [LanguageOption]

  static let fields: [TemplateField<FilledFrame>] = [
    .text("lang") { $0.frame.language.tag },
    .text("dir") { $0.direction },
    .text("formToken") { $0.frame.formToken },
    .path("here") { $0.frame.here },
    .flag("isPlainHTTP") { $0.frame.isPlainHTTP },
    .record("viewer") { $0.frame.viewer },
    .record("brand") { $0.frame.brand },
    .list("languages") { $0.languages },
  ]
}
