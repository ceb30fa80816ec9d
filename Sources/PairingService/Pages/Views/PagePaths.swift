package import RegentPairing

/// The paths of the phone's pages, used by the routes and by the forms.
package enum PagePaths {
  /// The path of the start page, which asks for a code; its form posts to ``code``.
  package static let start = SafePath.root
  /// The path to which the form with a typed code is posted.
  package static let code = SafePath(["code"])
  /// The path to which the language switch posts.
  ///
  /// It stores the language in a cookie and redirects to the field `return`.
  package static let language = SafePath(["language"])
  /// The path of the list of the viewer's screens.
  package static let screens = SafePath(["screens"])
  package static let signOutAllScreens = SafePath(["screens", "sign-out"])
  /// The path for changing the password of the signed-in account.
  package static let password = SafePath(["password"])
  /// The path that signs this browser out.
  package static let signOut = SafePath(["sign-out"])
  /// The path for signing in without a code, which lists the providers.
  package static let signIn = SafePath(["sign-in"])

  /// The path for signing in without a code at one provider.
  package static func signIn(provider: String) -> SafePath { signIn.step(provider) }

  /// The path for renaming one screen.
  package static func rename(screen: String) -> SafePath { screens.step(screen).step("rename") }

  package static func apps(screen: String) -> SafePath { screens.step(screen).step("apps") }

  /// The path for signing one screen out.
  package static func signOut(screen: String) -> SafePath { screens.step(screen).step("sign-out") }

  /// The path of a page of one code.
  ///
  /// Without a step, it is the path of the page that a typed code or a link opens.
  package static func code(_ code: RegistrationCode, _ step: CodeStep? = nil) -> SafePath {
    let page = SafePath(["D"]).step(code.wire)
    return step.map { page.step($0.rawValue) } ?? page
  }

  /// The path of the page for a scanned link, or of its form.
  ///
  /// It contains the link's secret.
  package static func scanned(_ scanned: ScannedCode, _ step: CodeStep? = nil) -> SafePath {
    let page = SafePath(["D"]).step(scanned.text)
    return step.map { page.step($0.rawValue) } ?? page
  }

  package enum CodeStep: String, CaseIterable, Sendable {
    /// POST: marks the code as opened in this browser.
    case open
    /// GET and POST: lets the viewer choose the provider to sign in with.
    case provider
    /// GET and POST: takes the viewer's user name and password.
    case signIn = "sign-in"
    /// GET and POST: lets the viewer compare the request with the screen and approve it.
    case approve
    /// POST: denies the code.
    ///
    /// The field `reason` is `not-me` when the viewer did not start the sign-in.
    case deny
    /// POST: ends this browser's claim on the code, so that the viewer can choose another provider or account.
    case release
    /// POST: extends this browser's claim on the code.
    ///
    /// The page's script sends it while the page is visible.
    case renew
    /// GET and POST: lets the viewer type the number that the screen shows.
    case number
    /// GET: asks the viewer to confirm that the screen shows no number; the form posts to ``deny``.
    case report
    /// GET: shows the result of the decision.
    case result
    /// GET: a long poll of the result page's script; `?state=` is the state that the page shows.
    ///
    /// The response comes when the state changes, or after about half a minute. It is a JSON object whose `state` is a
    /// value of ``ResultPage/State``, or `over` if the code has no approval any more: then the page reloads itself. A
    /// 4xx status ends the polling.
    case wait
  }
}
