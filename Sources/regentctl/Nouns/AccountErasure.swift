import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The commands `regentctl account export` and `regentctl account erase`, which print and delete all data about a
/// viewer.
enum AccountErasure {
  static let export = verb(
    "export", "print everything that is stored about a viewer, as one JSON document",
    details: """
      The document has the account, its rules, browsers, boxes, permits, OAuth grants, codes, failed sign-ins and audit \
      lines. It has no secrets: of the password it says only whether there is one. It also works for an account that \
      was removed, as long as audit lines name it.
      """,
    inputs: [AccountNoun.providerOrWhole, AccountNoun.optionalName], example: "account export cable anna > anna.json"
  ) { call, admin in
    let (provider, name) = try AccountNoun.named(call, verb: "export")
    call.console.print(json: try await admin.viewerData(provider, name).json)
  }

  static let erase = verb(
    "erase", "erase everything that is stored about a viewer",
    details: """
      Deletes the account, its rules, browsers, boxes, permits, OAuth grants, codes and failed sign-ins. In the audit \
      log a pseudonym replaces the name, and the details of these lines are removed; the log stays verifiable. The \
      command asks first, and then names the backups that still have the name. If it is interrupted, run it again.
      """,
    inputs: [AccountNoun.providerOrWhole, AccountNoun.optionalName, backups, yes],
    example: "account erase cable anna --yes"
  ) { call, admin in
    let (provider, name) = try AccountNoun.named(call, verb: "erase")
    let viewer = Viewer(provider: provider, account: name)
    if !call[yes] {
      let data = try await admin.viewerData(provider, name)
      try Prompt.confirm("erase \(viewer.title): \(things(in: data))", unless: yes, call)
    }
    let erased = try await call.console.progress("erasing \(viewer.title)") { try await admin.erase(provider, name) }
    let usual = Connection.isOfMachine(call) ? BackupSearch.usual : []
    let folders = call[backups].isEmpty ? usual : call[backups]
    let copies = await call.console.progress("searching backups") {
      // If the provider does not exist any more, it has no other accounts.
      let accounts = (try? await admin.accounts(of: provider)) ?? []
      return BackupSearch(viewer, besides: accounts.map(\.name)).copies(in: folders)
    }
    var document = erased.object
    document["backups"] = .array(copies.map(\.json))
    document["searched"] = .array(folders.map { .string($0) })
    call.show(.object(document), lines: lines(viewer, erased, copies, folders))
  }

  private static let backups = Input.repeated(
    "backups", .file,
    "a folder with backups to search for the name (default: \(BackupSearch.usual.joined(separator: ", ")))")

  private static func lines(
    _ viewer: Viewer, _ erased: ErasedViewer, _ copies: [BackupSearch.Copy], _ folders: [String]
  ) -> [String] {
    let first =
      erased.isEmpty
      ? "\(viewer.title) was erased before; nothing was left" : "\(viewer.title) erased: \(things(in: erased))"
    let place = folders.isEmpty ? "no folder with backups was searched" : "searched: \(folders.joined(separator: ", "))"
    let left =
      copies.isEmpty
      ? ["no backup has the name (\(place))"] : ["backups that still have the name:"] + copies.map(\.line)
    return [first, "name in the audit log: \(erased.pseudonym)"] + left
      + ["also delete copies elsewhere, exported audit logs and old log files: see privacy.md (package regent-doc)"]
  }

  private static func things(in data: ViewerData) -> String {
    let signIns = data.object["signIns"]?.array ?? []
    func below(_ list: String) -> Int { signIns.reduce(0) { $0 + ($1[list]?.array?.count ?? 0) } }
    return listed([
      (data.object["account"] == nil ? 0 : 1, "account", "accounts"), (data.count("rules"), "rule", "rules"),
      (data.count("sessions"), "browser", "browsers"), (signIns.count, "box sign-in", "box sign-ins"),
      (below("permits"), "permit", "permits"), (below("grants"), "OAuth grant", "OAuth grants"),
      (data.count("decisions"), "decision about apps", "decisions about apps"), (data.count("codes"), "code", "codes"),
      (data.count("failedSignIns"), "count of failed sign-ins", "counts of failed sign-ins"),
      (data.count("audit"), "audit line gets a pseudonym", "audit lines get a pseudonym"),
    ])
  }

  private static func things(in erased: ErasedViewer) -> String {
    listed([
      (erased.account ? 1 : 0, "account", "accounts"), (erased.rules, "rule", "rules"),
      (erased.sessions, "browser", "browsers"), (erased.signIns, "box sign-in", "box sign-ins"),
      (erased.permits, "permit", "permits"), (erased.grants, "OAuth grant", "OAuth grants"),
      (erased.decisions, "decision about apps", "decisions about apps"), (erased.codes, "code", "codes"),
      (erased.failedSignIns, "count of failed sign-ins", "counts of failed sign-ins"),
      (erased.auditLines, "audit line has a pseudonym", "audit lines have a pseudonym"),
    ])
  }

  private static func listed(_ counts: [(Int, String, String)]) -> String {
    counts.filter { $0.0 > 0 }.map { counted($0.0, $0.1, $0.2) }.joined(separator: ", ")
  }
}
