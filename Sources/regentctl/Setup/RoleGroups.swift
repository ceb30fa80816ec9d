import CommandKit
import RegentPlatform

/// The part of setup that lets members of other groups use regentctl with smaller roles.
enum RoleGroups {
  static let inputs: [Input<String?>] = [operators, desk, viewers]

  private static let operators = option("operator-group", "change apps, providers, accounts and rules")
  private static let desk = option("desk-group", "approve codes, set viewers' passwords and sign boxes out")
  private static let viewers = option("viewer-group", "read lists, findings and the audit log")

  private static func option(_ name: String, _ what: String) -> Input<String?> {
    Input.option(name, .text("GROUP"), "a group whose members may \(what); setup makes it if it does not exist")
  }

  /// The name of the setting that corresponds to an option of setup.
  private static func setting(_ input: Input<String?>) -> String {
    "REGENT_ADMIN_" + input.specification.name.uppercased().replacing("-", with: "_")
  }

  /// Makes the groups that the options name, and writes their settings.
  static func set(_ report: SetupReport) throws {
    let call = report.call
    let chosen = inputs.compactMap { input in call[input].map { (setting(input), $0) } }
    guard !chosen.isEmpty else { return }
    for (_, group) in chosen where try Accounts.group(named: group) == nil {
      guard try ChildProgram.run("groupadd", ["--system", "--", group]) == 0 else {
        throw CommandError(
          "the group \(group) cannot be made", hint: "run regentctl setup as root, or name a group that exists")
      }
      call.console.note("group \(group) added; give it members with: adduser NAME \(group)")
    }
    try SettingsChange(report).write(chosen.map { ($0.0, $0.1) }, isRunning: true, as: "roles")
  }

  /// Tells an operator who has set up everything alone how other people get a smaller role.
  static func tellNextStep(_ report: SetupReport) {
    let text = SettingsChange(report).text
    guard report.call.canAsk, inputs.allSatisfy({ text?.value(of: setting($0)) == nil }) else { return }
    report.call.console.note(
      "people who only approve codes and set passwords need no root: regentctl setup --desk-group regent-desk, then "
        + "adduser NAME regent-desk")
  }
}
