import Administration
import CommandKit
import RegentJSON
import RegentPlatform

/// Remembers the newest audit line outside the database, so that `doctor` notices a database that was set back.
///
/// All protections inside the database go back with it (decision 12). The mark is a file of the user who runs `doctor`.
/// Root's mark is out of reach of the service and of an attacker who can write only the database.
enum AuditMark {
  /// Compares the service's audit log with the mark, and moves the mark forward unless the log was set back.
  static func findings(_ call: Invocation, _ admin: AdminClient) async -> [Finding] {
    guard let folder = folder(call.environment) else { return [] }
    let (socket, path) = (Connection.path(call), "\(folder)/audit-marks.json")
    do {
      var marks = (try? JSONValue(reading: DurableFile.read(path, limit: 1 << 20, widest: 0o600)))?.object ?? [:]
      let newest = try await admin.newestAuditNumber()
      var first = marks[socket]?.object?["first"]?.object.flatMap { try? AuditLine($0) }.map(nameless)
      if let kept = (marks[socket]?.object.flatMap { try? AuditLine($0) }).map(nameless), let begin = first {
        let there = newest < kept.number ? nil : try await line(kept.number, admin)
        // The service may have removed the line since, because it was old or the log was full. That proves nothing.
        let isLater = newest >= kept.number && (there?.number != kept.number || there == kept)
        if !isLater {
          // Another database, such as that of a new installation, has another first line.
          let same = try await line(begin.number, admin)
          guard let same, same.number == begin.number, same != begin else { return [setBack(kept, newest, path)] }
          first = nil
        }
      }
      guard newest > 0, let last = try await line(newest, admin) else { return [] }
      if first == nil { first = try await line(1, admin) }
      var mark = last.object
      mark["first"] = first.map { .object($0.object) }
      marks[socket] = .object(mark)
      try PrivateDirectory.ensure(folder)
      try DurableFile.write(marks.bytes(), to: path)
      return []
    } catch {
      // Without a mark, `doctor` reports everything else.
      return []
    }
  }

  /// The line with this number, or the first one after it.
  private static func line(_ number: Int64, _ admin: AdminClient) async throws(AdminError) -> AuditLine? {
    try await admin.audit(after: number - 1, limit: 1).first.map(nameless)
  }

  /// The line without names, which `account erase` replaces in the log.
  ///
  /// The file of the mark must not keep them either.
  private static func nameless(_ line: AuditLine) -> AuditLine {
    AuditLine(
      number: line.number, at: line.at, actor: "", action: line.action, subject: "", outcome: line.outcome, detail: "")
  }

  private static func setBack(_ kept: AuditLine, _ newest: Int64, _ path: String) -> Finding {
    let lost = newest < kept.number ? "ends at line \(newest)" : "has another line \(kept.number)"
    return Finding(
      "set-back", .warning,
      "the database was set back to an earlier state: its audit log \(lost), but an earlier regentctl doctor saw line "
        + "\(kept.number) of \(shown(kept.at)): later changes of operators are lost, and what they revoked may be valid again",
      fix: "make these changes again (the replaced database or an audit export lists them), then run "
        + "rm \(shellQuoted(path))")
  }

  private static func folder(_ environment: Environment) -> String? {
    let home = environment["HOME"] ?? (try? Accounts.user(id: Accounts.effectiveUser))?.home
    let state = environment["XDG_STATE_HOME"] ?? home.map { "\($0)/.local/state" }
    return state.map { "\($0)/regentctl" }
  }
}
