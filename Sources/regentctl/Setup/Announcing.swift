import Administration
import CommandKit
import RegentJSON
import RegentPlatform

/// The systemd unit that announces the service on the local network; off by default.
enum Announcing {
  private static let unit = "regentd-announce.service"

  /// Switches the unit on or off, now and at boot.
  static func set(_ isOn: Bool, _ report: SetupReport, _ admin: AdminClient) async throws {
    if isOn {
      // The announcement is checked here, so that the operator sees an error now and not only in the unit's log.
      _ = try await AnnounceVerb.announcement(admin)
      guard try ChildProgram.run("sh", ["-c", "command -v \(AnnounceVerb.program) >/dev/null"]) == 0 else {
        throw CommandError(
          "\(AnnounceVerb.program) is not installed",
          hint: "run apt install avahi-daemon avahi-utils, then run this command again")
      }
    }
    guard Connection.isOfMachine(report.call), NightlyBackup.hasSystemd else {
      if isOn {
        report.call.console.note("there is no systemd here: the service is announced while you run regentctl announce")
      }
      return
    }
    let verb = isOn ? "enable" : "disable"
    guard try ChildProgram.run("systemctl", ["--quiet", verb, "--now", unit]) == 0 else {
      throw CommandError(
        "systemd could not \(verb) \(unit)", hint: "run as root: regentctl setup --announce \(isOn ? "on" : "off")")
    }
    report.add(
      "announcement", .bool(isOn),
      lines: [isOn ? "announced on the local network: \(unit)" : "not announced on the local network"])
  }

  /// Findings about the announcing unit, if it is enabled; empty if it is off.
  static func findings(_ call: Invocation) -> [Finding] {
    guard NightlyBackup.hasSystemd, Connection.isOfMachine(call), NightlyBackup.ask("is-enabled", unit) == 0 else {
      return []
    }
    for one in [unit, "avahi-daemon.service"] where NightlyBackup.ask("is-active", one) != 0 {
      return [
        Finding(
          "announcement", .warning, "boxes cannot find the service: \(one) is not running",
          fix: "find the reason: journalctl -u \(one) -n 20")
      ]
    }
    return [Finding("announcement", .good, "boxes can find the service on the local network")]
  }
}
