/// Choose who to sign in with, for one code or for signing in without one.
package struct ChooseProviderPage: PhonePage {
  /// The code, nil when somebody signs in to see their screens.
  package var bar: CodeBar?
  /// What was searched for, empty when nothing was.
  package var query: String
  /// The provider that was chosen on the screen; also shown when a search does not match it.
  package var chosen: ProviderChoice?
  /// Featured providers that match, without the chosen one.
  package var featured: [ProviderChoice]
  /// All others that match.
  package var others: [ProviderChoice]
  /// How many more match than are shown: then only a search finds them.
  package var hidden: Int
  /// Whether another account is wanted, at the same provider perhaps: then a sign-in there is not skipped.
  package var isSwitching = false
  /// Where to go afterwards when there is no code.
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

/// One provider in the list.
package struct ProviderChoice: Sendable {
  /// What the form sends back.
  package let id: String
  /// Name and logo.
  package let brand: Brand

  /// A choice from id and brand.
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
