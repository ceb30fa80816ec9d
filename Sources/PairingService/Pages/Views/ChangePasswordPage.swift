/// A new password for the account.
package struct ChangePasswordPage: PhonePage {
  /// Why the form came back.
  package enum Problem: String, CaseIterable, Sendable {
    /// The current password is not right.
    case wrongCurrent = "wrong-current"
    /// The new one is shorter than `minimum`.
    case tooShort = "too-short"
    /// The new one is longer than anybody types.
    case tooLong = "too-long"
    /// Both are the same.
    case unchanged
  }

  /// The account's name, for password managers.
  package var userName: String
  /// The least characters of a new password.
  package var minimum: Int
  /// Nil at first.
  package var problem: Problem?

  /// A page that asks, or asks again.
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
