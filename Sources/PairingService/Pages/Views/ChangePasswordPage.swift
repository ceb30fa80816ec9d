package struct ChangePasswordPage: PhonePage {
  /// Why the form for a new password is shown again.
  package enum Problem: String, CaseIterable, Sendable {
    case wrongCurrent = "wrong-current"
    /// The new password that the viewer typed is shorter than `minimum`.
    case tooShort = "too-short"
    /// The new password that the viewer typed is longer than `PasswordHasher.longestPassword`.
    case tooLong = "too-long"
    /// The new password that the viewer typed equals the current one.
    case unchanged
  }

  /// The account's name, in a hidden field for password managers.
  package var userName: String
  /// The minimum length of a new password, in Unicode scalars.
  package var minimum: Int
  /// Why the form for a new password is shown again; nil the first time.
  package var problem: Problem?

  package init(userName: String, minimum: Int, problem: Problem? = nil) {
    self.userName = userName
    self.minimum = minimum
    self.problem = problem
  }

  package static let template = "change-password.html"
  package var status: Int { problem == nil ? 200 : unprocessableContent }

  package static let fields: [TemplateField<ChangePasswordPage>] = [
    .text("userName") { $0.userName },
    .count("minimum") { $0.minimum },
    .flag("isCurrentWrong") { $0.problem == .wrongCurrent },
    .flag("isNewWrong") { $0.problem != nil && $0.problem != .wrongCurrent },
    .record("problem") { $0.problem.map { FormProblem(kind: $0) } },
  ]
}
