import Administration
import CommandKit
import RegentCryptography
import RegentHTTPCodec
import HTTPServer
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPlatform
import RegentSQL

/// `regentd check`: performs the checks of `serve` without serving.
enum CheckCommand {
  static let command = Command(
    "check", "check the settings and the database before a start",
    details: """
      Takes the options and environment variables of "regentd serve". Checks the modes of files, the certificate, the \
      pages and the master key, then the integrity of the database and the signature of every row, on a copy in \
      $TMPDIR or /var/tmp. It opens no port and changes nothing. As root, it runs as the owner of the database's folder.

      A database in a file is skipped while the service runs; use "regentctl doctor" then. A database on a server can \
      be checked at any time.

      With --settings-only it skips the database. The systemd units use this before a reload, so that "systemctl \
      reload" fails if the new certificate is not usable.
      """,
    inputs: ServeCommand.inputs + [settingsOnly], sections: ServeCommand.sections, rules: ServeCommand.rules,
    environmentPrefix: "REGENT_",
    example:
      "regentd check --database /var/lib/regentd/regent.db --master-key /var/lib/regentd/master-key"
  ) { call in
    try StateOwner.become(ofDatabase: try ServicePaths.ownFile(call))
    let settings = try ServiceSettings(call, makesFolder: false)
    let (paths, console) = (settings.paths, call.console)
    for remark in settings.remarks(variables: ProcessEnvironment.all().keys) {
      note(remark.message, remark.hint, console)
    }
    if let tls = settings.tls {
      try load(tls)
      let found = tls.finding(for: settings.certificateHost, at: Clocks.wallMilliseconds() / 1000)
      if found.status == .bad { throw CommandError(found.detail, hint: found.fix) }
      if found.status == .warning { note(found.detail, found.fix ?? "", console) }
    }
    console.print("configuration: good")
    _ = try pages(in: paths.web)
    console.print("pages: \(paths.web) is complete")
    if call[settingsOnly] { return }
    if let server = paths.server { return try await checkServer(server, paths, console) }
    try MovedDatabase(of: paths.database).refuseService()
    guard try PrivateDirectory.owner(of: folder(of: paths.database)) != nil,
      let found = try RestoredDatabase(of: paths.database).there()
    else {
      console.print("database: does not exist yet; the first start creates \(paths.database)")
      return
    }
    let copy = DatabaseCopy(call)
    defer { copy.remove() }
    do throws(FileError) {
      try copy.make(of: found, database: paths.database)
    } catch {
      guard case .held = error.kind else { throw error }
      console.print("database: skipped, because the service is running; use regentctl doctor")
      return
    }
    try await checkDatabase(copy.path, paths, console)
  }

  private static let settingsOnly = Input.flag(
    "settings-only", "check the settings, certificate and pages, but not the database"
  ).saidEachTime()
}

private func note(_ message: String, _ hint: String, _ console: Console) {
  console.note("regentd: warning: \(message)")
  console.note("  hint: \(hint)")
}

/// Loads the certificate and its key as the service would.
///
/// For that it opens a listener on any free port, and closes it at once.
private func load(_ tls: TLSFiles) throws {
  var engine = ServerConfiguration()
  engine.loops = 1
  let handler = ClosureHandler { _ in .now(Response(.serviceUnavailable)) }
  let server = try Server(
    [Listener(.network(.loopback, port: 0), tls: tls, handler: handler)], configuration: engine)
  server.stop(within: .zero)
}

private func checkDatabase(
  _ copy: String, _ paths: ServicePaths, _ console: Console
) async throws {
  let store = try await onThread("check") {
    try MasterKeyFile(paths).look { key in try openStore(at: copy, key) }
  }
  do {
    try await refuseDamage(of: store, paths)
    console.print("database: \(paths.database) is intact")
    var found = StoreWalkResult()
    found.loose = try await store.looseRows()
    found.unverified = try await store.verifyRows()
    found.gaps = try await store.auditProblems()
    try report(found, console)
  } catch {
    await close(store)
    throw error
  }
  await close(store)
}

private func close(_ store: SQLiteStore) async {
  try? await onThread("check") { store.close() }
}

/// Checks a snapshot of a database on a server.
///
/// Nothing is written, and services continue.
private func checkServer(_ server: ConnectionSettings, _ paths: ServicePaths, _ console: Console) async throws {
  let isMade = try await onThread("check") { try PostgreSQLStore.isMade(on: server) }
  try await onThread("check") { try refuseBeginning(on: server, paths) }
  guard isMade else {
    console.print("database: empty; the first start creates the tables in \(paths.shownDatabase)")
    return
  }
  let count = RowCount()
  let found = try await console.progress("checking \(counted(count.now, "row"))") {
    try await onThread("check") {
      let snapshot = try MasterKeyFile(paths).look { key in try ServerSnapshot(of: server, masterKey: key) }
      defer { snapshot.close() }
      return try snapshot.survey(seen: count.note)
    }
  }
  console.print("database: \(paths.shownDatabase) has the expected tables, \(counted(found.rows, "row"))")
  try report(found, console)
}

/// Prints the results of checking all rows.
///
/// Throws at the first problem.
private func report(_ found: StoreWalkResult, _ console: Console) throws {
  guard found.loose.isEmpty else {
    throw CommandError(
      "rows were deleted by another program: \(found.loose.prefix(3).joined(separator: ", "))",
      hint: "check who can write to the database; an earlier backup may have what is missing")
  }
  guard found.unverified == 0 else {
    throw CommandError(
      changedRows(found.unverified),
      hint: "the audit log names them (row.tampered): start the service, then run regentctl audit tail")
  }
  console.print("rows: all signatures are valid")
  guard found.gaps.isEmpty else {
    throw CommandError(
      "the audit log was changed by another program: \(found.gaps.prefix(3).joined(separator: ", "))",
      hint: "check who can write to the database; an earlier backup may have what is missing")
  }
  console.print("audit: the log is complete")
}
