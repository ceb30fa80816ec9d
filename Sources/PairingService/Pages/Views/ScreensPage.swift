package import RegentPairing

/// The page that lists the screens that are signed in with the viewer's account.
package struct ScreensPage: PhonePage {
  /// The finished action that the page confirms, after the redirect of its form.
  package enum Done: String, CaseIterable, Sendable {
    case renamed
    case signedOut = "signed-out"
    case allSignedOut = "all-signed-out"
    case passwordChanged = "password-changed"
  }

  /// The viewer's screens, beginning with the most recently used one.
  package var screens: [Screen]
  /// The finished action that the page confirms; nil when the viewer just opened the page.
  package var done: Done?
  /// Whether the signed-in account may change its password on these pages.
  package var canChangePassword: Bool

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

/// A screen in the list: a signed-in device, or a program that paired over OAuth.
package struct Screen: Sendable {
  /// The id of the screen's sign-in (its authentication), used in paths.
  package let id: String
  /// The name that the viewer gave the screen, or else the name that the device gives itself.
  package let name: ForeignText
  /// The second line of the screen's entry: the name that the device gives itself, if the viewer has renamed the
  /// screen; for an app, the name of its box.
  ///
  /// Empty when there is nothing to show.
  package let model: ForeignText
  /// The name of the requestor at which the screen is signed in.
  package let app: ForeignText
  package let lastUse: Instant
  package let since: Instant
  /// The apps that are signed in through this box's own sign-in.
  package let apps: [ScreenApp]
  /// Whether this is a box's own sign-in, which apps on the box can use.
  package let holdsApps: Bool
  /// Whether this entry is a program that paired as an OAuth client, and not a screen.
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

/// An app that is signed in through a box's sign-in and is signed out with it.
package struct ScreenApp: Sendable {
  /// The app's name on the box, given by the box's owner.
  package let name: ForeignText
  /// The name of the requestor that publishes the app.
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

package struct RenameScreenPage: PhonePage {
  /// Why the form for a new name is shown again.
  package enum Problem: String, CaseIterable, Sendable {
    /// The name that the viewer typed has no visible character.
    case empty
    /// The name that the viewer typed is longer than ``ForeignText/defaultLimit``.
    case tooLong = "too-long"
  }

  package var id: String
  /// The name in the form: the current one, or what the viewer typed.
  package var name: ForeignText
  /// Why the form for a new name is shown again; nil the first time.
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
