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

/// `regentd check`: what `serve` would find, without serving.
enum CheckCommand {
  static let command = Command(
    "check", "see whether the service could start and its data is sound",
    details: """
      Takes the options and the environment of "regentd serve" and looks at everything that they name: modes of files, \
      the certificate, the pages, the master key. Then it opens a copy of the database (in $TMPDIR, else /var/tmp) as \
      the service would, looks at its integrity and at the signature of every row. It listens nowhere and changes \
      nothing. Root looks as the user whose folder the database is in.

      While the service runs its database is its own: regentctl doctor checks it then. A database on a server is looked \
      at as it is at one moment, also while services use it.

      With --settings-only it does not look at the database: the units do so before a reload, so that "systemctl reload" \
      fails when the new certificate cannot be used.
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
      console.print("database: there is none yet, the first start makes \(paths.database)")
      return
    }
    let copy = DatabaseCopy(call)
    defer { copy.remove() }
    do throws(FileError) {
      try copy.make(of: found, database: paths.database)
    } catch {
      guard case .held = error.kind else { throw error }
      console.print("database: the service is running and has it, regentctl doctor checks it")
      return
    }
    try await checkDatabase(copy.path, paths, console)
  }

  private static let settingsOnly = Input.flag(
    "settings-only", "look at settings, certificate and pages, and not at the database"
  ).saidEachTime()
}

private func note(_ message: String, _ hint: String, _ console: Console) {
  console.note("regentd: warning: \(message)")
  console.note("  hint: \(hint)")
}

/// Reads the certificate and its key as the service would; the port is any that is free, and is given back at once.
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
    console.print("database: \(paths.database) is sound")
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

/// Looks at a database on a server as it is at one moment: nothing is written, and services go on.
private func checkServer(_ server: ConnectionSettings, _ paths: ServicePaths, _ console: Console) async throws {
  let isMade = try await onThread("check") { try PostgreSQLStore.isMade(on: server) }
  try await onThread("check") { try refuseBeginning(on: server, paths) }
  guard isMade else {
    console.print("database: there is none yet, the first start makes the tables in \(paths.shownDatabase)")
    return
  }
  let count = RowCount()
  let found = try await console.progress("looking at \(counted(count.now, "row"))") {
    try await onThread("check") {
      let snapshot = try MasterKeyFile(paths).look { key in try ServerSnapshot(of: server, masterKey: key) }
      defer { snapshot.close() }
      return try snapshot.survey(seen: count.note)
    }
  }
  console.print("database: \(paths.shownDatabase) has the tables that it must have, \(counted(found.rows, "row"))")
  try report(found, console)
}

/// Says what is good, up to the first thing that is not.
private func report(_ found: StoreWalkResult, _ console: Console) throws {
  guard found.loose.isEmpty else {
    throw CommandError(
      "rows were deleted from outside: \(found.loose.prefix(3).joined(separator: ", "))",
      hint: "find out who can write the database; an earlier backup may hold what is missing")
  }
  guard found.unverified == 0 else {
    throw CommandError(
      changedRows(found.unverified),
      hint: "the audit log says which (row.tampered): start the service and type regentctl audit tail")
  }
  console.print("rows: every row is signed as it must be")
  guard found.gaps.isEmpty else {
    throw CommandError(
      "the audit log was changed from outside: \(found.gaps.prefix(3).joined(separator: ", "))",
      hint: "find out who can write the database; an earlier backup may hold what is missing")
  }
  console.print("audit: the log is whole")
}
