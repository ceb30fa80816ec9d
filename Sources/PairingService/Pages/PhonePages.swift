/// The phone's pages.
///
/// The service reads, checks and compiles all files at its start. Rendering a page then only fills the compiled
/// template with the page's view model.
package struct PhonePages: Sendable {
  /// The static files, for the routes that serve them.
  package let files: StaticFiles
  /// The path of the public address that comes before every path of this service, such as `/regent`; may be empty.
  package let base: String
  private let texts: TextCatalog
  private let templates: [String: CompiledTemplate]
  /// The keys of texts that neither a page nor Swift code uses.
  ///
  /// An unused key is often a mistyped one.
  package let unusedTexts: Set<String>

  /// The types of all pages.
  ///
  /// A page that is missing here cannot be rendered; a test checks that the list is complete.
  static let pages: [any PhonePage.Type] = [
    EnterCodePage.self, ScannedCodePage.self, ChooseProviderPage.self, SignInPage.self,
    ApprovePage.self, MatchNumberPage.self, ReportPage.self, ResultPage.self, NoticePage.self, ScreensPage.self,
    RenameScreenPage.self, AppsPage.self, ConfirmPage.self, ChangePasswordPage.self, LeavePage.self,
  ]

  /// Reads and compiles every page.
  ///
  /// `base` is the path of the public address, without a slash at its end. Paths inside this program do not contain it;
  /// it is added where a browser sees the path. A `WebFileError` with file and line is thrown for an unknown name, text
  /// or file, an incomplete locale file, or a placeholder where escaping would not protect the value.
  package init(_ web: WebFiles, base: String = "") throws(WebFileError) {
    self.base = base
    files = try StaticFiles(web, base: base)
    texts = try TextCatalog(web)
    var compiler = try TemplateCompiler(web, texts: texts, files: files, base: base)
    var templates: [String: CompiledTemplate] = [:]
    for page in PhonePages.pages {
      templates[page.template] = try compiler.compile(
        page.template, records: [RecordSchema(of: FilledFrame.self), page.schema])
    }
    self.templates = templates
    unusedTexts = texts.keys.subtracting(compiler.usedKeys).subtracting(TextCatalog.keysOfCode)
  }

  package var languages: [PageLanguage] {
    texts.languages.enumerated().map { PageLanguage(tag: $1.tag, position: $0) }
  }

  /// The language of a page.
  ///
  /// The language in the language cookie counts if it is known, else the best match for `Accept-Language`, else
  /// English.
  package func language(chosen: String?, acceptLanguage: String?) -> PageLanguage {
    let tags = texts.languages.map(\.tag)
    let position = LanguageChoice.pick(tags, chosen: chosen, acceptLanguage: acceptLanguage)
    return PageLanguage(tag: tags[position], position: position)
  }

  /// Renders a page as HTML in UTF-8.
  package func render<Page: PhonePage>(_ page: Page, in frame: PageFrame) -> [UInt8] {
    guard let template = templates[Page.template],
      texts.languages.indices.contains(frame.language.position)
    else { return [] }
    let language = texts.languages[frame.language.position]
    let filled = FilledFrame(
      frame: frame, direction: language.direction, languages: options(current: language.tag))
    return TemplateRenderer.render(
      template, records: [TemplateRecord(filled), TemplateRecord(page)], texts: language,
      now: frame.now, base: base)
  }

  private func options(current: String) -> [LanguageOption] {
    texts.languages.map { language in
      LanguageOption(
        tag: language.tag, name: language.name, direction: language.direction,
        isCurrent: language.tag == current)
    }
  }
}

extension TemplateView {
  static var schema: RecordSchema { RecordSchema(of: Self.self) }
}
