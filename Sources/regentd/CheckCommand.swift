import CommandKit
import HTTPCodec
import HTTPServer
import PairingStoreSQLite
import Platform

/// `regentd check`: what `serve` would find, without serving.
enum CheckCommand {
  static let command = Command(
    "check", "see whether the service could start and its data is sound",
    details: """
      Takes the options and the environment of "regentd serve" and looks at everything that they name: modes of files, \
      the certificate, the pages, the master key. Then it opens the database as the service would, looks at its \
      integrity and at the signature of every row. It listens nowhere.

      While the service runs its database is its own: regentctl doctor checks it then.
      """,
    inputs: ServeCommand.inputs, sections: ServeCommand.sections, rules: ServeCommand.rules,
    environmentPrefix: "REGENT_", example: "regentd check --database /var/lib/regent/regent.db"
  ) { call in
    let settings = try ServiceSettings(call)
    let console = call.console
    if let tls = settings.tls { try load(tls) }
    console.print("configuration: good")
    _ = try pages(in: settings.places.web)
    console.print("pages: \(settings.places.web) is complete")
    guard try PrivateFile.check(settings.places.database) else {
      console.print(
        "database: there is none yet, the first start makes \(settings.places.database)")
      return
    }
    try await checkDatabase(settings.places, console)
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

private func checkDatabase(_ places: ServicePlaces, _ console: Console) async throws {
  // What happens to a store that only reads is told by the reading itself.
  let store = try await onThread("check") { try openStore(places) { _ in } }
  do {
    let problems = try await store.integrityProblems()
    guard problems.isEmpty else {
      throw CommandError(
        "the database \(places.database) is damaged: \(problems[0])",
        hint: "restore the last backup: regentctl restore BACKUP")
    }
    console.print("database: \(places.database) is sound")
    let bad = try await store.verifyRows()
    guard bad == 0 else {
      throw CommandError(
        "\(bad) rows were changed from outside and do not count",
        hint:
          "the audit log says which (row.tampered): start the service and type regentctl audit tail"
      )
    }
    console.print("rows: every row is signed as it must be")
  } catch {
    await close(store)
    throw error
  }
  await close(store)
}

private func close(_ store: SQLiteStore) async {
  try? await onThread("check") { store.close() }
}
