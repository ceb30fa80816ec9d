import RegentCryptography
import RegentPairing
import PairingStore
@testable import PairingStoreSQLite
import SQLite
import StorageFaults
@testable import StoreConformance
import TestSupport
import Testing

/// A migration that a later version might have: the table of sign-ins gets a column `later`, and every row is signed
/// again.
private enum NextVersion {
  static let step = "sign-ins have something later"
  static let authentications = Resigning.RawTable(
    raw: "authentication", version: 3, signer: .rowPair, Tables.authentications.columns + [.text("later")])

  static func migrations(_ keys: MigrationKeys, rowsPerPart: Int) -> [Migration] {
    var resigning = Resigning(
      old: .init(raw: "authentication", version: 2, signer: .rowPair, Tables.authentications.columns),
      new: authentications, keyPairs: Tables.keyPairs
    ) { values, _ in values + [.text("none")] }
    resigning.rowsPerPart = rowsPerPart
    return Schema.migrations(keys) + [
      resigning.migration(step, keys) { context in
        try context.run("ALTER TABLE authentication ADD COLUMN later TEXT")
      }
    ]
  }
}

extension StoreFile {
  /// Opens the file with the migrations of the later version.
  fileprivate func openedByNextVersion(rowsPerPart: Int = 500) throws -> (database: Database, vault: Vault) {
    let master = try DataKeys.masterKey(master)
    var options = DatabaseOptions(
      path: path, applicationID: Schema.applicationID,
      migrations: NextVersion.migrations(MigrationKeys(master), rowsPerPart: rowsPerPart))
    options.fileLayer = fileLayer
    let database = try Database(options)
    return (database, try database.writeBlocking { try DataKeys.open(in: $0, with: master) })
  }

  /// The ids of the sign-ins that verify in the later version.
  fileprivate func signInsOfNextVersion() throws -> [String] {
    let (database, vault) = try openedByNextVersion()
    defer { database.close() }
    return try database.readBlocking { context in
      let new = NextVersion.authentications
      return try SignedRows(vault, VerifiedRowCache()).all(context, new, "\(all: new) ORDER BY id")
        .map { $0.values[0].shown }
    }
  }

  /// Adds `count` sign-ins, signed by today's version, and returns the ids of all sign-ins.
  fileprivate func fill(_ count: Int) async throws -> [String] {
    try await with { store in
      let house = try await FullHouse(store)
      let first = house.authentication
      try await store.database.write { context in
        let rows = SignedRows(store.vault, VerifiedRowCache())
        for number in 0..<count {
          let record = AuthenticationRecord(
            authentication: Authentication(
              id: try ConformanceFixture.name("sign-in-\(1000 + number)"),
              requestor: first.authentication.requestor, viewer: first.authentication.viewer, household: nil,
              profile: nil, source: .regular, issued: first.authentication.issued,
              expires: first.authentication.expires),
            device: first.device, deviceHash: try house.stage.hash(5000 + number), identity: nil,
            rowKey: first.rowKey, about: first.about)
          try rows.insert(context, Tables.authentications, record)
        }
      }
      return try await store.database.read { context in
        try context.all("SELECT id FROM authentication ORDER BY id") { try $0.text(0) }
      }
    }
  }
}

@Suite struct `A signed table that gets a new column` {
  @Test func `every row verifies after the migration, and a forged row still does not`() async throws {
    try await withStoreFile { file in
      var wanted = try await file.fill(1200)
      let forged = wanted.remove(at: 700)
      try file.behindTheBack {
        try $0.run("UPDATE authentication SET household = 'OTHER' WHERE id = \(forged)")
      }
      #expect(try file.signInsOfNextVersion() == wanted)
      #expect(wanted.count > 1200)
    }
  }

  @Test func `a power cut at any write of the migration loses no row, and the next start finishes it`() async throws {
    try await withTemporaryFolder { folder in
      let original = StoreFile(path: "\(folder)/regent.db")
      let wanted = try await original.fill(10)
      var cutInBetween = 0
      for round in 1...400 {
        let disk = FaultyDisk()
        var file = try original.copy(to: "\(folder)/\(round).db")
        file.fileLayer = disk.name
        disk.fail([.write, .synchronise, .truncate, .delete], at: round, forEver: true)
        let opened = try? file.openedByNextVersion(rowsPerPart: 2)
        opened?.database.close()
        disk.heal()
        try makeDisk("\(folder)/after-\(round)", from: disk.survivors())
        var after = StoreFile(path: "\(folder)/after-\(round)/\(round).db", master: file.master)
        after.fileLayer = original.fileLayer
        if try after.isHalfMigrated() {
          cutInBetween += 1
          // The current version refuses a file that is in the middle of a migration it does not know.
          let known = Schema.migrations(MigrationKeys(try DataKeys.masterKey(file.master))).count
          #expect(throws: OpenFailure.newerSchema(path: after.path, found: known + 1, known: known)) {
            try after.open()
          }
        }
        #expect(try after.signInsOfNextVersion() == wanted, "cut at write \(round)")
        if opened != nil { break }
        try #require(round < 400, "the migration never finished")
      }
      // Six parts. A cut between two of them leaves some rows in the old form and some in the new form.
      #expect(cutInBetween >= 6)
    }
  }

  @Test func `a wrong master key leaves the file unchanged`() async throws {
    try await withStoreFile { file in
      _ = try await file.fill(3)
      var stranger = file
      stranger.master = Random.secret()
      #expect(throws: StoreKeyFailure.self) { try stranger.openedByNextVersion() }
      try file.open().close()
    }
  }
}

extension StoreFile {
  private enum Stop: Error { case notBegun, underWay }

  /// Whether a migration in parts has begun and not finished.
  fileprivate func isHalfMigrated() throws -> Bool {
    let keys = MigrationKeys(try DataKeys.masterKey(master))
    var options = DatabaseOptions(
      path: path, applicationID: Schema.applicationID,
      migrations: Schema.migrations(keys) + [
        Migration(NextVersion.step) { _ in
          throw Stop.notBegun
        } inParts: { _, _ in
          throw Stop.underWay
        }
      ])
    options.fileLayer = fileLayer
    do {
      try Database(options).close()
    } catch let stop as Stop {
      return stop == .underWay
    }
    return false
  }
}
