/// User name and password at one provider.
package struct SignInPage: PhonePage {
  /// Why the form came back.
  package enum Problem: String, CaseIterable, Sendable {
    /// One of the fields was empty.
    case empty
    /// Unknown name, wrong password or disabled account: which of them nobody is told.
    case refused
  }

  /// The code, nil when somebody signs in to see their screens.
  package var bar: CodeBar?
  /// The provider's id, for the address of the form.
  package var provider: String
  /// The provider's name and logo.
  package var brand: Brand
  /// The name that was typed, kept.
  package var userName: String
  /// Where to go afterwards when there is no code.
  package var returnTo: SafePath?
  /// Whether there is another provider to go to.
  package var hasOthers: Bool
  /// Whom to ask who cannot sign in, empty when the operator does not say.
  package var contact = ForeignText("")
  /// Nil at first.
  package var problem: Problem?

  /// A page that asks, or asks again.
  package init(
    bar: CodeBar?, provider: String, brand: Brand, userName: String = "",
    returnTo: SafePath? = nil, hasOthers: Bool, problem: Problem? = nil
  ) {
    self.bar = bar
    self.provider = provider
    self.brand = brand
    self.userName = userName
    self.returnTo = returnTo
    self.hasOthers = hasOthers
    self.problem = problem
  }

  package static let template = "sign-in.html"
  package var status: Int {
    switch problem {
    case nil: 200
    case .empty: unprocessableContent
    case .refused: 403
    }
  }

  package static let fields: [TemplateField<SignInPage>] = [
    .record("bar") { $0.bar },
    .record("provider") { $0.brand },
    .path("action") { page in
      page.bar.map { PagePaths.code($0.code, .signIn).query("provider", page.provider) }
        ?? PagePaths.signIn(provider: page.provider)
    },
    .path("otherProvider") { page in
      guard page.hasOthers else { return nil }
      return page.bar.map { PagePaths.code($0.code, .provider) } ?? PagePaths.signIn
    },
    .text("userName") { $0.userName.shortened(to: 320) },
    .path("returnTo") { $0.returnTo },
    .foreign("contact") { $0.contact },
    .record("problem") { $0.problem.map { FormProblem(kind: $0) } },
  ]
}
