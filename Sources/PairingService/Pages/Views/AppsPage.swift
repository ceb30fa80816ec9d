/// The page that lists the apps of one box, with the viewer's decision about each, and lets the viewer change it.
package struct AppsPage: PhonePage {
  /// The id of the box's screen in the viewer's list.
  package var id: String
  package var name: ForeignText
  package var apps: [AppChoice]
  /// Whether the page confirms a decision that the viewer has just made.
  package var isDone: Bool

  package init(id: String, name: ForeignText, apps: [AppChoice], isDone: Bool = false) {
    self.id = id
    self.name = name
    self.apps = apps
    self.isDone = isDone
  }

  package static let template = "apps.html"

  package static let fields: [TemplateField<AppsPage>] = [
    .foreign("name") { $0.name },
    .list("apps") { $0.apps },
    .flag("isDone") { $0.isDone },
    .path("action") { PagePaths.apps(screen: $0.id) },
  ]
}

/// An app on a box, and the viewer's decision about it.
package struct AppChoice: Sendable {
  /// The app's name on the box, given by the box's owner.
  let app: String
  /// The requestor that publishes the app: its id and its name.
  let requestor: String
  let company: ForeignText
  let permission: AppDecision

  package init(app: String, requestor: String, company: ForeignText, permission: AppDecision) {
    self.app = app
    self.requestor = requestor
    self.company = company
    self.permission = permission
  }
}

extension AppChoice: TemplateView {
  package static let fields: [TemplateField<AppChoice>] = [
    .foreign("name") { ForeignText(firstSeen: $0.app, $0.requestor) },
    .foreign("company") { $0.company },
    .text("app") { $0.app },
    .text("requestor") { $0.requestor },
    .choice("permission") { $0.permission },
    .flag("mayGrant") { $0.permission != .granted },
    .flag("mayDeny") { $0.permission != .denied },
    .flag("mayReset") { $0.permission != .undetermined },
  ]
}
