import CommandKit
import RegentPlatform

/// The service that a package or `make install` installed, with the settings of its unit.
///
/// When root runs `regentd restore FILE`, the installed service is meant. Without its data directory and settings, the
/// command would restore a database in root's home, report success and not change the service.
enum InstalledService {
  private static let settings = "/etc/regent/regentd.env"
  private static let state = "/var/lib/regentd"
  private static let runtime = "/run/regentd"
  private static let units = ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].map {
    "\($0)/systemd/system/regentd.service"
  }
  private static let commands: Set<String> = ["check", "backup", "restore", "move"]

  /// If root runs a command without naming folder or settings, takes both from the installed unit and prints that.
  ///
  /// Called before threads exist, because it changes the environment.
  static func adopt(_ arguments: [String]) {
    let words = arguments.dropFirst()
    guard Accounts.effectiveUser == 0, let command = words.first, commands.contains(command),
      !words.contains(where: { $0 == "--help" || $0 == "-h" || $0.hasPrefix("--database") }),
      ["STATE_DIRECTORY", "XDG_STATE_HOME", "REGENT_DATABASE"].allSatisfy({ ProcessEnvironment.value($0) == nil }),
      units.contains(where: isThere), isThere(state)
    else { return }
    let own = "\(ProcessEnvironment.value("HOME") ?? "/root")/.local/state/regent"
    guard !isThere("\(own)/regent.db") else {
      return say(
        "this uses the database in \(own), not the installed service's",
        "for the installed service, run STATE_DIRECTORY=\(state) regentd \(command) …")
    }
    var said = "using the installed service: data in \(state)"
    if let bytes = try? DurableFile.read(settings, limit: 1 << 20, widest: nil) {
      for (name, value) in EnvironmentFile(bytes).variables where !name.hasPrefix("LD_") { give(name, value) }
      said += ", settings of \(settings)"
    }
    give("STATE_DIRECTORY", state)
    if isThere(runtime) { give("RUNTIME_DIRECTORY", runtime) }
    say(said, nil)
  }

  /// Refuses to run a second service as root, beside the installed one, with an empty database in root's home.
  static func refuseSecondService(_ call: Invocation) throws(CommandError) {
    guard Accounts.effectiveUser == 0, call[ServeCommand.database] == nil,
      ["STATE_DIRECTORY", "XDG_STATE_HOME"].allSatisfy({ ProcessEnvironment.value($0) == nil }),
      units.contains(where: isThere), isThere(state)
    else { return }
    throw CommandError(
      "the installed service is run by systemd, with its own user and its data in \(state)",
      hint: "start it: systemctl start regentd; for another service, name its database: --database FILE")
  }

  /// Variables that are already set take precedence.
  private static func give(_ name: String, _ value: String) { ProcessEnvironment.setMissing(name, value) }

  private static func isThere(_ path: String) -> Bool { SocketPlace.isThere(path) }

  private static func say(_ sentence: String, _ hint: String?) {
    Console.system.note("regentd: \(sentence)")
    if let hint { Console.system.note("  hint: \(hint)") }
  }
}
