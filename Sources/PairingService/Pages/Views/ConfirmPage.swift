/// “Are you sure?” before something that cannot be taken back.
package struct ConfirmPage: PhonePage {
  /// What is about to happen.
  package enum Action: Sendable {
    /// One screen is signed out, and with it the apps that are in by its sign-in.
    case signOutScreen(id: String, name: ForeignText, apps: [ScreenApp])
    /// All screens are signed out.
    case signOutAllScreens(count: Int)
    /// This phone is signed out; the screens stay signed in.
    case signOut
    /// The same, for a page elsewhere that wants the browser back; the form's address says where.
    case leave(SafePath)
  }

  /// What is about to happen.
  package var action: Action

  /// A question about one action.
  package init(_ action: Action) {
    self.action = action
  }

  package static let template = "confirm.html"

  private enum Kind: String, CaseIterable { case screen, all, phone }

  package static let fields: [TemplateField<ConfirmPage>] = [
    .choice("kind") { page in
      switch page.action {
      case .signOutScreen: Kind.screen
      case .signOutAllScreens: Kind.all
      case .signOut, .leave: Kind.phone
      }
    },
    .foreign("name") { page in
      if case .signOutScreen(_, let name, _) = page.action { name } else { nil }
    },
    .list("apps") { page in
      if case .signOutScreen(_, _, let apps) = page.action { apps } else { [] }
    },
    .count("count") { page in
      if case .signOutAllScreens(let count) = page.action { count } else { 0 }
    },
    .path("action") { page in
      switch page.action {
      case .signOutScreen(let id, _, _): PagePaths.signOut(screen: id)
      case .signOutAllScreens: PagePaths.signOutAllScreens
      case .signOut: PagePaths.signOut
      case .leave(let path): path
      }
    },
  ]
}
