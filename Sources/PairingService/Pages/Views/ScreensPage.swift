package import RegentPairing

/// My screens: what is signed in with this account, and the account itself.
package struct ScreensPage: PhonePage {
  /// What has just been done, said once.
  package enum Done: String, CaseIterable, Sendable {
    /// A screen has a new name.
    case renamed
    /// One screen is signed out.
    case signedOut = "signed-out"
    /// All screens are signed out.
    case allSignedOut = "all-signed-out"
    /// The password is changed.
    case passwordChanged = "password-changed"
  }

  /// The screens, the last used first.
  package var screens: [Screen]
  /// What has just been done.
  package var done: Done?
  /// Whether this provider lets its accounts change their password here.
  package var canChangePassword: Bool

  /// A page of these screens.
  package init(screens: [Screen], done: Done? = nil, canChangePassword: Bool = true) {
    self.screens = screens
    self.done = done
    self.canChangePassword = canChangePassword
  }

  package static let template = "screens.html"

  package static let fields: [TemplateField<ScreensPage>] = [
    .list("screens") { $0.screens },
    .flag("hasSeveral") { $0.screens.count > 1 },
    .record("done") { $0.done.map { FormProblem(kind: $0) } },
    .flag("canChangePassword") { $0.canChangePassword },
  ]
}

/// One signed-in screen.
package struct Screen: Sendable {
  /// What addresses call it.
  package let id: String
  /// The viewer's name for it, else the device's own.
  package let name: ForeignText
  /// Its model, empty when unknown.
  package let model: ForeignText
  /// Whose app runs on it.
  package let app: ForeignText
  /// When it last used its sign-in.
  package let lastUse: Instant
  /// When it was signed in.
  package let since: Instant
  /// The apps that are in by its sign-in.
  package let apps: [ScreenApp]
  /// Whether it is a box's own sign-in, which apps may use.
  package let holdsApps: Bool
  /// Whether it is no screen at all, but a program that paired in OAuth's words.
  package let isProgram: Bool

  package init(
    id: String, name: ForeignText, model: ForeignText, app: ForeignText, lastUse: Instant,
    since: Instant, apps: [ScreenApp] = [], holdsApps: Bool = false, isProgram: Bool = false
  ) {
    self.id = id
    self.name = name
    self.model = model
    self.app = app
    self.lastUse = lastUse
    self.since = since
    self.apps = apps
    self.holdsApps = holdsApps
    self.isProgram = isProgram
  }
}

/// An app that is in by a box's sign-in, and ends with it.
package struct ScreenApp: Sendable {
  /// What the box's owner calls it.
  package let name: ForeignText
  /// Whose it is.
  package let company: ForeignText

  package init(name: ForeignText, company: ForeignText) {
    self.name = name
    self.company = company
  }
}

extension ScreenApp: TemplateView {
  package static let fields: [TemplateField<ScreenApp>] = [
    .foreign("name") { $0.name },
    .foreign("company") { $0.company },
  ]
}

extension Screen: TemplateView {
  package static let fields: [TemplateField<Screen>] = [
    .foreign("name") { $0.name },
    .foreign("model") { $0.model },
    .foreign("app") { $0.app },
    .moment("lastUse") { $0.lastUse },
    .moment("since") { $0.since },
    .list("apps") { $0.apps },
    .flag("holdsApps") { $0.holdsApps },
    .flag("isProgram") { $0.isProgram },
    .path("appsPage") { PagePaths.apps(screen: $0.id) },
    .path("rename") { PagePaths.rename(screen: $0.id) },
    .path("signOut") { PagePaths.signOut(screen: $0.id) },
  ]
}

/// A new name for one screen.
package struct RenameScreenPage: PhonePage {
  /// Why the form came back.
  package enum Problem: String, CaseIterable, Sendable {
    /// Nothing visible was typed.
    case empty
    /// More than fits.
    case tooLong = "too-long"
  }

  /// The screen's id.
  package var id: String
  /// The name now, or what was typed.
  package var name: ForeignText
  /// Nil at first.
  package var problem: Problem?

  package init(id: String, name: ForeignText, problem: Problem? = nil) {
    self.id = id
    self.name = name
    self.problem = problem
  }

  package static let template = "rename-screen.html"
  package var status: Int { problem == nil ? 200 : unprocessableContent }

  package static let fields: [TemplateField<RenameScreenPage>] = [
    .foreign("name") { $0.name },
    .path("action") { PagePaths.rename(screen: $0.id) },
    .count("limit") { _ in ForeignText.defaultLimit },
    .record("problem") { $0.problem.map { FormProblem(kind: $0) } },
  ]
}
