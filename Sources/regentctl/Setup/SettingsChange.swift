import CommandKit
import RegentJSON
import RegentPlatform

/// The service's settings file, and changes to it.
struct SettingsChange {
  private let report: SetupReport
  /// The path of the settings file.
  private let path: String
  private let isOfMachine: Bool

  init(_ report: SetupReport) {
    self.report = report
    path = report.call[SetupVerb.settings]
    isOfMachine = path == SetupVerb.settings.specification.defaultText
  }

  /// The current content; nil if the file cannot be read.
  var text: EnvironmentFile? {
    (try? DurableFile.read(path, limit: 1 << 20, widest: nil)).map { EnvironmentFile($0) }
  }

  /// Locks the settings against another setup, and removes the temporary files of an interrupted one.
  ///
  /// - Returns: nil if this user cannot change the settings, or if their folder does not exist.
  static func lock(_ path: String) throws(CommandError) -> SettingsLock? {
    do throws(FileError) {
      let lock = try SettingsLock(path)
      try DurableFile.clearDrafts(of: path)
      return lock
    } catch {
      switch error.kind {
      case .missing, .notADirectory, .system: return nil
      default: throw CommandError(settingUp: path, error)
      }
    }
  }

  /// Changes the file and restarts the service; restores the old file if the service does not start.
  ///
  /// `step` is the member of the JSON document.
  func write(_ settings: [(name: String, value: String?)], isRunning: Bool, as step: String = "settings") throws {
    let call = report.call
    let old: [UInt8]
    do throws(FileError) {
      old = try DurableFile.read(path, limit: 1 << 20, widest: nil)
    } catch {
      throw CommandError(
        "the settings in \(path) cannot be changed: \(error.description)",
        hint: "run regentctl setup as root, or start the service with: regentd serve "
          + settings.compactMap { name, value in value.map { "\(Self.option(name)) '\($0)'" } }.joined(separator: " "))
    }
    var file = EnvironmentFile(old)
    for (name, value) in settings { file.set(name, value) }
    guard !file.changes.isEmpty else { return }
    report.add(
      step, .array(file.changes.map { .string($0.new ?? "#\($0.old ?? "")") }),
      lines: ["\(path):"]
        + file.changes.flatMap { change in
          (change.old.map { ["  - \($0)"] } ?? []) + (change.new.map { ["  + \($0)"] } ?? [])
        })
    call.console.flush()
    try DurableFile.replace(file.bytes, of: path, whichSays: old)
    guard isOfMachine, NightlyBackup.hasSystemd else {
      guard isRunning else {
        throw CommandError(
          "the settings are saved, but the service is not running",
          hint: "start the service, then run regentctl setup again")
      }
      call.console.note("restart the service with these settings, then run regentctl setup again")
      return
    }
    guard try ChildProgram.run("systemctl", ["restart", "regentd"]) != 0 else { return }
    // The old file is restored only if no other program has changed it meanwhile.
    try DurableFile.replace(old, of: path, whichSays: file.bytes)
    _ = try ChildProgram.run("systemctl", ["restart", "regentd"])
    throw CommandError(
      "the service does not start with these settings, so the old ones were restored",
      hint: "find the reason in the service's log: journalctl -u regentd -n 20")
  }

  /// The option that corresponds to a variable: `--public-url` for `REGENT_PUBLIC_URL`.
  private static func option(_ variable: String) -> String {
    "--" + variable.dropFirst("REGENT_".count).lowercased().replacing("_", with: "-")
  }
}
