/// The page that asks “Are you sure?” before a sign-out.
package struct ConfirmPage: PhonePage {
  /// The kind of sign-out that the page confirms.
  package enum Action: Sendable {
    /// The form signs one screen out, and with it the apps that use its sign-in.
    case signOutScreen(id: String, name: ForeignText, apps: [ScreenApp])
    case signOutAllScreens(count: Int)
    /// The form signs this browser out; the screens stay signed in.
    case signOut
    /// The form signs this browser out for an application that sent the browser here and wants it back.
    ///
    /// The path contains the application's address.
    case leave(SafePath)
  }

  package var action: Action

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
