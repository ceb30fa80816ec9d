package import RegentPairing

/// Where the phone's pages are: what the routes mount and the forms post to.
package enum PagePaths {
  /// The page that asks for a code; its form posts to ``code``.
  package static let start = SafePath.root
  /// Takes the typed code.
  package static let code = SafePath(["code"])
  /// Remembers the language and returns to the field `return`.
  package static let language = SafePath(["language"])
  /// My screens.
  package static let screens = SafePath(["screens"])
  package static let signOutAllScreens = SafePath(["screens", "sign-out"])
  /// Changes the password.
  package static let password = SafePath(["password"])
  /// Signs this phone out.
  package static let signOut = SafePath(["sign-out"])
  /// Signs in without a code: the choice of the provider.
  package static let signIn = SafePath(["sign-in"])

  /// Signs in without a code at one provider.
  package static func signIn(provider: String) -> SafePath { signIn.step(provider) }

  /// One screen's new name.
  package static func rename(screen: String) -> SafePath { screens.step(screen).step("rename") }

  /// The apps of one box.
  package static func apps(screen: String) -> SafePath { screens.step(screen).step("apps") }

  /// One screen's end.
  package static func signOut(screen: String) -> SafePath { screens.step(screen).step("sign-out") }

  /// A page of one code: without a step the one a scan opens.
  package static func code(_ code: RegistrationCode, _ step: CodeStep? = nil) -> SafePath {
    let page = SafePath(["D"]).step(code.wire)
    return step.map { page.step($0.rawValue) } ?? page
  }

  /// The page that a scanned link opens, or the form on it.
  package static func scanned(_ scanned: ScannedCode, _ step: CodeStep? = nil) -> SafePath {
    let page = SafePath(["D"]).step(scanned.text)
    return step.map { page.step($0.rawValue) } ?? page
  }

  /// The steps of one code, in the order of the flow.
  package enum CodeStep: String, CaseIterable, Sendable {
    /// POST: the phone has the code.
    case open
    /// GET and POST: who to sign in with.
    case provider
    /// GET and POST: the account.
    case signIn = "sign-in"
    /// GET and POST: compare and approve.
    case approve
    /// POST: deny; the field `reason` says `not-me` when the viewer did not start it.
    case deny
    /// POST: give the lease back and choose another provider or account.
    case release
    /// POST: renew the lease, sent by the script while the page is looked at.
    case renew
    /// GET and POST: type the number on the screen.
    case number
    /// GET: asks once more whether the screen shows no number; its form posts to ``deny``.
    case report
    /// GET: what became of it.
    case result
    /// GET: what the script of the result page waits on. It says `?state=` with the state it shows; the answer is held
    /// until that changes (or about half a minute) and is `{"state": "approved" | "delivered" | "silent"}` as JSON. Any
    /// other state makes the page load itself again; a 4xx ends the waiting.
    case wait
  }
}
