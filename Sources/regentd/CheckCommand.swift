import CommandKit
import RegentCryptography
import RegentHTTPCodec
import HTTPServer
import PairingStoreSQLite
import RegentPlatform

/// `regentd check`: what `serve` would find, without serving.
enum CheckCommand {
  static let command = Command(
    "check", "see whether the service could start and its data is sound",
    details: """
      Takes the options and the environment of "regentd serve" and looks at everything that they name: modes of files, \
      the certificate, the pages, the master key. Then it opens a copy of the database (in $TMPDIR, else /var/tmp) as \
      the service would, looks at its integrity and at the signature of every row. It listens nowhere and changes \
      nothing. Root looks as the user whose folder the database is in.

      While the service runs its database is its own: regentctl doctor checks it then.
      """,
    inputs: ServeCommand.inputs, sections: ServeCommand.sections, rules: ServeCommand.rules,
    environmentPrefix: "REGENT_",
    example:
      "regentd check --database /var/lib/regentd/regent.db --master-key /var/lib/regentd/master-key"
  ) { call in
    try StateOwner.become(ofDatabase: try ServicePaths.database(call))
    let settings = try ServiceSettings(call, makesFolder: false)
    let (paths, console) = (settings.paths, call.console)
    if let tls = settings.tls { try load(tls) }
    console.print("configuration: good")
    _ = try pages(in: paths.web)
    console.print("pages: \(paths.web) is complete")
    guard try PrivateDirectory.owner(of: folder(of: paths.database)) != nil,
      let found = try RestoredDatabase(of: paths.database).there()
    else {
      console.print("database: there is none yet, the first start makes \(paths.database)")
      return
    }
    let copy = DatabaseCopy(in: call.environment["TMPDIR"] ?? "/var/tmp")
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
    let problems = try await store.integrityProblems()
    guard problems.isEmpty else {
      throw CommandError(
        "the database \(paths.database) is damaged: \(problems[0])",
        hint: "restore the last backup: regentctl restore BACKUP")
    }
    console.print("database: \(paths.database) is sound")
    let bad = try await store.verifyRows()
    guard bad == 0 else {
      throw CommandError(
        "\(bad) rows were changed from outside and do not count",
        hint:
          "the audit log says which (row.tampered): start the service and type regentctl audit tail"
      )
    }
    console.print("rows: every row is signed as it must be")
    let gaps = try await store.auditProblems()
    guard gaps.isEmpty else {
      throw CommandError(
        "the audit log was changed from outside: \(gaps.prefix(3).joined(separator: ", "))",
        hint: "find out who can write the database; an earlier backup may hold what is missing")
    }
    console.print("audit: the log is whole")
  } catch {
    await close(store)
    throw error
  }
  await close(store)
}

private func close(_ store: SQLiteStore) async {
  try? await onThread("check") { store.close() }
}
