package import RegentPairing

/// The data that every page needs besides its own content: the language, the token of its forms, the signed-in viewer.
package struct PageFrame: Sendable {
  /// The language of the page, from `PhonePages.language(chosen:acceptLanguage:)`.
  package var language: PageLanguage
  /// The time of the request, to which “3 minutes ago” on the page is relative.
  package var now: Instant
  /// The token against cross-site request forgery, which every form of the page sends back as `csrf`.
  package var formToken: String
  /// The address that shows this page again; the language switch redirects to it.
  package var here: SafePath
  /// Whether `--public-url` is `http` on a network; then the page warns that others on the network can read
  /// passwords.
  package var isPlainHTTP: Bool
  /// The viewer who is signed in on this phone; nil when none is, and for a guest.
  package var viewer: ViewerLabel?
  /// The requestor whose app runs on the screen, for pages of one code.
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

/// A language that has a locale file.
package struct PageLanguage: Hashable, Sendable {
  /// The language's BCP 47 tag, as in the HTML attribute `lang` and in the form field `language`.
  package let tag: String
  let position: Int
}

/// The names of the signed-in viewer and provider, shown in the page's header.
package struct ViewerLabel: Sendable {
  package let name: ForeignText
  package let provider: ForeignText

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

/// The name, logo and colour of a requestor or provider.
package struct Brand: Sendable {
  package let name: ForeignText
  /// The path of the logo on this service.
  ///
  /// Logos on other hosts are not shown.
  package let logo: SafePath?
  /// The colour for buttons and links.
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

/// A language in the language switch at the bottom of the page.
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

/// The data that every page needs (``PageFrame``), completed with texts of the page's language.
///
/// It is the outermost record of every template.
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
