/// The phone's pages: everything is read, checked and compiled when the service starts; then a view model goes in and
/// bytes come out.
package struct PhonePages: Sendable {
  /// The static files, for the route that serves them.
  package let files: StaticFiles
  /// What the public address has before every path of ours: `/regent`, or nothing.
  package let base: String
  private let texts: TextCatalog
  private let templates: [String: CompiledTemplate]
  /// Texts that no page and no code uses: not needed, and a sign of a mistyped key.
  package let unusedTexts: Set<String>

  /// Every page there is: a page that is missing here cannot be rendered, which its own test shows.
  static let pages: [any PhonePage.Type] = [
    EnterCodePage.self, ScannedCodePage.self, ChooseProviderPage.self, SignInPage.self,
    ApprovePage.self, MatchNumberPage.self, ReportPage.self, ResultPage.self, NoticePage.self, ScreensPage.self,
    RenameScreenPage.self, AppsPage.self, ConfirmPage.self, ChangePasswordPage.self, LeavePage.self,
  ]

  /// Compiles every page.
  ///
  /// - Parameters:
  ///   - web: the files of the `web` folder.
  ///   - base: the path of the public address, without a slash at its end. All paths in this program are without it; it
  ///     is put before them where a browser follows them.
  /// - Throws: `WebFileError` with file and line, for an unknown name, text or file, for a locale that is not complete
  ///   and for a placeholder where escaping would not protect it.
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

  /// The tags of all languages, the fallback first.
  package var languages: [PageLanguage] {
    texts.languages.enumerated().map { PageLanguage(tag: $1.tag, position: $0) }
  }

  /// The language a reader gets: the one chosen before, else what the browser asks for, else English.
  ///
  /// - Parameters:
  ///   - chosen: the value of the language cookie; anything unknown is ignored.
  ///   - acceptLanguage: the header.
  /// - Returns: one of `languages`.
  package func language(chosen: String?, acceptLanguage: String?) -> PageLanguage {
    let tags = texts.languages.map(\.tag)
    let position = LanguageChoice.pick(tags, chosen: chosen, acceptLanguage: acceptLanguage)
    return PageLanguage(tag: tags[position], position: position)
  }

  /// A page as HTML in UTF-8.
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
