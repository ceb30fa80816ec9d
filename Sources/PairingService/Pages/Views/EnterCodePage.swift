package import RegentPairing

/// The start page, where the viewer types the code that the screen shows.
package struct EnterCodePage: PhonePage {
  /// What is wrong with the code that the viewer typed.
  package enum Problem: String, CaseIterable, Sendable {
    case empty
    case wrongLength = "wrong-length"
    /// The typed text contains a character that no code has.
    case wrongLetters = "wrong-letters"
    /// No screen is waiting with the typed code.
    case unknown
    /// The typed code has expired.
    case expired

    package init(_ error: CodeInputError) {
      self =
        switch error {
        case .empty: .empty
        case .tooFewLetters, .tooManyLetters: .wrongLength
        case .neverInACode: .wrongLetters
        }
    }
  }

  /// The text that the viewer typed, shown again so that a wrong letter can be corrected; empty the first time.
  package var typed: String
  /// What is wrong with the code that the viewer typed; nil the first time.
  package var problem: Problem?

  package init(typed: String = "", problem: Problem? = nil) {
    self.typed = typed
    self.problem = problem
  }

  package static let template = "enter-code.html"
  package var status: Int { problem == nil ? 200 : unprocessableContent }

  package static let fields: [TemplateField<EnterCodePage>] = [
    // The text is shortened: a long text that was pasted by mistake need not be shown again.
    .text("typed") { $0.typed.shortened(to: 64) },
    .record("problem") { $0.problem.map { FormProblem(kind: $0) } },
  ]
}

/// The page that opens from a scanned link, before the code counts as opened.
///
/// A GET must not open the code, because link previews send GETs. The page's script submits the form at once. Without a
/// script the viewer taps a button.
package struct ScannedCodePage: PhonePage {
  /// The code in the scanned link, and the link's secret.
  package var scanned: ScannedCode

  /// Makes the page for the code of a link, whether or not a screen is waiting with that code.
  package init(_ scanned: ScannedCode) {
    self.scanned = scanned
  }

  package static let template = "scanned-code.html"

  package static let fields: [TemplateField<ScannedCodePage>] = [
    .text("display") { $0.scanned.code.display },
    .path("open") { PagePaths.scanned($0.scanned, .open) },
  ]
}
