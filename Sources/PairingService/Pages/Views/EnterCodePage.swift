package import RegentPairing

/// The front page: type the code that the screen shows.
package struct EnterCodePage: PhonePage {
  /// What was wrong with the code that was typed.
  package enum Problem: String, CaseIterable, Sendable {
    /// Nothing was typed.
    case empty
    /// Fewer or more than eight letters.
    case wrongLength = "wrong-length"
    /// A letter or digit that codes never contain.
    case wrongLetters = "wrong-letters"
    /// No screen is waiting with that code.
    case unknown
    /// The screen has a newer one by now.
    case expired

    /// What to say about a text that is no code.
    package init(_ error: CodeInputError) {
      self =
        switch error {
        case .empty: .empty
        case .tooFewLetters, .tooManyLetters: .wrongLength
        case .neverInACode: .wrongLetters
        }
    }
  }

  /// What was typed, kept so that one letter can be mended; empty at first.
  package var typed: String
  /// Nil at first.
  package var problem: Problem?

  /// A page that asks, or asks again.
  package init(typed: String = "", problem: Problem? = nil) {
    self.typed = typed
    self.problem = problem
  }

  package static let template = "enter-code.html"
  package var status: Int { problem == nil ? 200 : unprocessableContent }

  package static let fields: [TemplateField<EnterCodePage>] = [
    // A long text that was pasted by mistake is not shown again.
    .text("typed") { $0.typed.shortened(to: 64) },
    .record("problem") { $0.problem.map { FormProblem(kind: $0) } },
  ]
}

/// What a scanned link shows before anything happened: a GET must not open the code, link previews send GETs.
///
/// The script sends the form at once; without script there is one button.
package struct ScannedCodePage: PhonePage {
  /// The code of the link, and its secret.
  package var scanned: ScannedCode

  /// A page for one code, whether a screen waits with it or not.
  package init(_ scanned: ScannedCode) {
    self.scanned = scanned
  }

  package static let template = "scanned-code.html"

  package static let fields: [TemplateField<ScannedCodePage>] = [
    .text("display") { $0.scanned.code.display },
    .path("open") { PagePaths.scanned($0.scanned, .open) },
  ]
}
