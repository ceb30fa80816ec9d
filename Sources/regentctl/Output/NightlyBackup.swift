import Administration
import CommandKit
import RegentPlatform

/// The doctor's check of the nightly backup timer.
///
/// The service knows the age of the last backup; only systemd knows whether the timer will start another.
enum NightlyBackup {
  static let timer = "regentd-backup.timer"
  /// The number of backups that the timer's unit keeps.
  static let kept = 14

  static var hasSystemd: Bool { (try? PrivateDirectory.check("/run/systemd/system", widest: 0o755)) == true }

  /// The findings of `doctor` about the systemd timer that makes the nightly backup.
  ///
  /// Empty if the service is not a systemd unit, or was installed without the timer.
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

  /// The exit code of a systemctl command, whose output is discarded.
  static func ask(_ verb: String, _ unit: String) -> Int32? {
    try? ChildProgram.run("sh", ["-c", "exec systemctl \(verb) \(unit) >/dev/null 2>&1"])
  }
}
