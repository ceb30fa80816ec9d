/// The page where the viewer chooses a provider, to approve a code or to sign in without one.
package struct ChooseProviderPage: PhonePage {
  /// The line with the code; nil when the viewer signs in without a code, to see the list of screens.
  package var bar: CodeBar?
  /// The text with which the viewer searches for a provider; empty when the viewer has not searched.
  package var query: String
  /// The provider that was preselected on the screen.
  ///
  /// It is shown even when the search does not match it.
  package var chosen: ProviderChoice?
  /// The featured providers that match the search, without the preselected one.
  package var featured: [ProviderChoice]
  /// The providers that match the search and are neither featured nor preselected.
  package var others: [ProviderChoice]
  /// The number of matching providers that are not shown; the viewer must refine the search to find them.
  package var hidden: Int
  /// Whether the viewer wants to sign in with another account.
  ///
  /// If so, choosing the provider that is already signed in does not skip the sign-in.
  package var isSwitching = false
  /// The page that the browser shows after a sign-in without a code.
  package var returnTo: SafePath?

  package init(
    bar: CodeBar?, query: String = "", chosen: ProviderChoice? = nil,
    featured: [ProviderChoice] = [], others: [ProviderChoice], hidden: Int = 0
  ) {
    self.bar = bar
    self.query = query
    self.chosen = chosen
    self.featured = featured
    self.others = others
    self.hidden = hidden
  }

  package static let template = "choose-provider.html"

  package static let fields: [TemplateField<ChooseProviderPage>] = [
    .record("bar") { $0.bar },
    .path("action") { page in
      page.bar.map { PagePaths.code($0.code, .provider) } ?? PagePaths.signIn
    },
    .path("choose") { page in
      guard let bar = page.bar else { return PagePaths.signIn }
      let path = PagePaths.code(bar.code, .provider)
      return page.isSwitching ? path.query("switch", "1") : path
    },
    .flag("isSwitching") { $0.isSwitching },
    .path("returnTo") { $0.returnTo },
    .foreign("query") { ForeignText($0.query) },
    .record("chosen") { $0.chosen },
    .list("featured") { $0.featured },
    .list("others") { $0.others },
    .count("hidden") { $0.hidden },
    .flag("hasNone") { $0.featured.isEmpty && $0.others.isEmpty },
    .flag("hasSearch") {
      !$0.query.isEmpty || $0.hidden > 0 || $0.featured.count + $0.others.count > 6
    },
  ]
}

package struct ProviderChoice: Sendable {
  /// The provider's id, which the form sends back.
  package let id: String
  package let brand: Brand

  package init(id: String, brand: Brand) {
    self.id = id
    self.brand = brand
  }
}

extension ProviderChoice: TemplateView {
  package static let fields: [TemplateField<ProviderChoice>] = [
    .text("id") { $0.id },
    .record("provider") { $0.brand },
  ]
}
