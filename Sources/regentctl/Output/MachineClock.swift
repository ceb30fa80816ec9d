import Administration
import RegentPlatform

/// Checks for `doctor` whether the clock of the service's machine follows a time server.
///
/// The service cannot ask: its sandbox keeps it from systemd.
enum MachineClock {
  static func findings() -> [Finding] {
    // The admin socket is always one of this machine.
    guard let isActive = TimeSynchronization.isActive else { return [] }
    guard !isActive else {
      return [Finding("time-server", .good, "the machine's clock follows a time server")]
    }
    return [
      Finding(
        "time-server", .warning,
        "the machine's clock follows no time server: when it is off, stream servers refuse media tokens",
        fix: "run timedatectl set-ntp true; if NTP is not supported, run apt install systemd-timesyncd")
    ]
  }
}
