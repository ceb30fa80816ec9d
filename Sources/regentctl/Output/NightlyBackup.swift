import Administration
import CommandKit
import RegentPlatform

/// What `doctor` says of the timer that makes a backup every night: the service knows how old the last one is, and
/// systemd alone whether there will be another.
enum NightlyBackup {
  private static let timer = "regentd-backup.timer"

  static var hasSystemd: Bool { (try? PrivateDirectory.check("/run/systemd/system", widest: 0o755)) == true }

  /// Nothing where the service is none of systemd's, or came without the timer.
  static func findings(_ call: Invocation) -> [Finding] {
    guard hasSystemd, Connection.isOfMachine(call), ask("cat", timer) == 0 else { return [] }
    if ask("is-failed", "regentd-backup.service") == 0 {
      return [
        Finding(
          "nightly-backup", .warning, "the last nightly backup failed",
          fix: "find the reason: journalctl -u regentd-backup -n 20; then run systemctl start regentd-backup")
      ]
    }
    guard ask("is-active", timer) == 0 else {
      return [
        Finding("nightly-backup", .warning, "the timer is off", fix: "systemctl enable --now \(timer)")
      ]
    }
    return [Finding("nightly-backup", .good, "the timer is on")]
  }

  /// The exit code of a question to systemd, whose words nobody needs.
  static func ask(_ verb: String, _ unit: String) -> Int32? {
    try? ChildProgram.run("sh", ["-c", "exec systemctl \(verb) \(unit) >/dev/null 2>&1"])
  }
}
