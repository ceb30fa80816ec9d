/// The page that asks for user name and password at one provider.
package struct SignInPage: PhonePage {
  /// Why the sign-in form is shown again.
  package enum Problem: String, CaseIterable, Sendable {
    case empty
    /// The name is unknown, the password is wrong or the account is disabled.
    ///
    /// The page does not say which, so that guesses reveal no accounts.
    case refused
  }

  /// The line with the code; nil when the viewer signs in without a code, to see the list of screens.
  package var bar: CodeBar?
  /// The provider's id, which is part of the form's address.
  package var provider: String
  package var brand: Brand
  /// The user name that the viewer typed, shown again in the form.
  package var userName: String
  /// The page that the browser shows after a sign-in without a code.
  package var returnTo: SafePath?
  /// Whether the viewer can choose another provider.
  package var hasOthers: Bool
  /// The person or office whom viewers can ask for help, as the requestor's operator wrote it; empty when not set.
  package var contact = ForeignText("")
  /// Why the sign-in form is shown again; nil the first time.
  package var problem: Problem?

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
