import RegentCryptography
import RegentPairing
import PairingStore
@testable import StoreConformance
@testable import PairingStoreSQLite
import SQLite
import TestSupport
import Testing

/// A signed table with its columns.
///
/// `shows` tells whether the store still returns the row that the test changes.
struct SignedTable: Sendable, CustomTestStringConvertible {
  let name: String
  let columns: [Column]
  let shows: @Sendable (FullHouse, any Store) async throws -> Bool

  init<Record>(
    _ table: Table<Record>, _ shows: @escaping @Sendable (FullHouse, any Store) async throws -> Bool
  ) {
    name = table.name
    columns = table.columns + [.bytes("signature")]
    self.shows = shows
  }

  var testDescription: String { name }

  /// Changes one column of the row with the smallest row id.
  func flip(_ column: Column, in file: StoreFile) throws {
    let name = name
    try file.behindTheBack { context in
      let found = try context.first(
        "SELECT \(unsafeRawSQL: column.name), rowid FROM \(unsafeRawSQL: name) ORDER BY rowid"
      ) { row in (value: try column.value(of: row, at: 0), place: try row.integer(1)) }
      let row = try #require(found)
      let other: SQLValue =
        switch row.value {
        case .null:
          switch column.kind {
          case .text: .text("x")
          case .number: .integer(1)
          case .bytes: .blob([UInt8](repeating: 1, count: 32))
          }
        case .text(let text): .text(text + "x")
        case .integer(let number): .integer(number + 1000)
        case .blob(let bytes): .blob(bytes.isEmpty ? [1] : [bytes[0] ^ 1] + bytes.dropFirst())
        case .real: .null
        }
      let changed = try context.run(
        """
        UPDATE \(unsafeRawSQL: name) SET \(unsafeRawSQL: column.name) = \(other)
        WHERE rowid = \(row.place)
        """)
      #expect(changed == 1)
    }
  }

  static let all: [SignedTable] = [
    SignedTable(Tables.keyPairs) { house, store in
      try await store.provisioning().keyPairs[house.stage.rowKey] != nil
    },
    SignedTable(Tables.signingKeys) { _, store in try await !store.signingKeys().isEmpty },
    SignedTable(Tables.requestors) { house, store in
      try await store.provisioning().requestors[house.stage.requestor] != nil
    },
    SignedTable(Tables.providers) { house, store in
      try await store.provisioning().providers[house.stage.local] != nil
    },
    SignedTable(Tables.integrations) { house, store in
      try await store.provisioning().integrations[house.stage.requestor]?[house.stage.local] != nil
    },
    SignedTable(Tables.accounts) { house, store in
      try await store.account(house.stage.local, house.account) != nil
    },
    SignedTable(Tables.passwords) { house, store in
      try await store.password(of: house.account, at: house.stage.local) != nil
    },
    SignedTable(Tables.entitlements) { _, store in
      try await !store.provisioning().entitlements.isEmpty
    },
    SignedTable(Tables.applications) { house, store in
      let all = try await store.provisioning()
      let client = try await store.client(house.client)
      return !all.applications.isEmpty || client != nil
    },
    SignedTable(Tables.clients) { house, store in try await store.client(house.client) != nil },
    SignedTable(Tables.registrations) { house, store in
      try await store.registration(house.registration, at: house.stage.at(4)) != nil
    },
    SignedTable(Tables.authentications) { house, store in
      let signIn = try await house.stage.pickUp(second: 4).signIn
      let permit = try await store.permit(
        house.authentication.authentication.id, house.resource, at: house.stage.at(4))
      return signIn != nil || permit != .none
    },
    SignedTable(Tables.permits) { house, store in
      try await store.permit(
        house.authentication.authentication.id, house.resource, at: house.stage.at(4)) != .none
    },
    SignedTable(Tables.passes) { house, store in
      try await store.temporaryPass(
        requestor: house.stage.requestor, provider: house.stage.promotion,
        device: house.stage.hash(1009), identity: house.stage.hash(3001)) != TemporaryPassUse()
    },
    SignedTable(Tables.sessions) { house, store in
      try await !store.sessions(of: house.stage.ann, at: house.stage.at(4)).isEmpty
    },
    SignedTable(Tables.screenNames) { house, store in
      try await !store.names(of: [house.stage.hash(1001)]).isEmpty
    },
    SignedTable(Tables.numbers) { _, store in try await store.keptNumbers(.day) != nil },
    SignedTable(Tables.loginFailures) { house, store in
      try await store.loginFailures(of: .source(house.source)) != nil
    },
    SignedTable(Tables.audit) { _, store in
      try await store.audit(after: 0, limit: 99).contains { $0.entry.action == "test" }
    },
    SignedTable(Tables.auditHead) { _, store in
      try await !store.audit(after: 0, limit: 99).contains { $0.entry.action == "audit.broken" }
    },
  ]
}

@Suite struct `Rows that were changed outside the service` {
  @Test(arguments: SignedTable.all)
  func `a row with any changed column is ignored, and the audit log reports it`(
    table: SignedTable
  ) async throws {
    try await withStoreFile { file in
      let house = try await file.with { store async throws in
        let house = try await FullHouse(store)
        #expect(try await table.shows(house, store), "the row is missing before the change")
        return house
      }
      for column in table.columns {
        let copy = try file.copy(to: "\(file.path).\(column.name)")
        try table.flip(column, in: copy)
        try await copy.with { store async throws in
          let bad = try await store.verifyRows(step: 2)
          #expect(bad >= 1, "\(table.name).\(column.name) still verifies")
          let shown = try await table.shows(house.on(store), store)
          #expect(!shown, "\(table.name).\(column.name) still counts")
          let lines = try await store.audit(after: 0, limit: 99).map(\.entry)
          let told = lines.filter { $0.action == "row.tampered" && $0.actor == .service }
          #expect(
            told.contains { $0.subject.hasPrefix("\(table.name)/") },
            "\(table.name).\(column.name): \(told.map(\.subject))")
        }
      }
    }
  }

  @Test func `a changed row is reported once per start, whichever call reads it first`() async throws {
    try await withStoreFile { file in
      let house = try await file.with { try await FullHouse($0) }
      try file.behindTheBack { try $0.run("UPDATE registration SET sequence = sequence + 1") }
      for start in 1...2 {
        try await file.with { store async throws in
          for _ in 1...3 {
            await #expect(throws: StoreError.notFound(what: "code")) {
              try await store.open(house.registration, at: house.stage.at(4))
            }
          }
          let told = try await store.audit(after: 0, limit: 99).map(\.entry)
            .filter { $0.action == "row.tampered" }
          #expect(
            told.map(\.subject) == [String](repeating: "registration/registration-1", count: start))
          #expect(told.last?.at == Instant(milliseconds: 42))
        }
      }
    }
  }

  @Test func `one invalid row neither shortens a page nor ends a list`() async throws {
    try await withStoreFile { file in
      let stage = try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        for number in 1...6 { try await stage.reserve(stage.registration(number, device: number)) }
        return stage
      }
      try file.behindTheBack {
        try $0.run("UPDATE registration SET state = 'approved' WHERE id = 'registration-2'")
        try $0.run("UPDATE registration SET id = CAST(x'ff' AS TEXT) WHERE id = 'registration-5'")
      }
      try await file.with { store async throws in
        let page = try await store.registrations(after: nil, limit: 3, at: stage.at(1))
        #expect(page.map(\.id.text) == ["registration-1", "registration-3", "registration-4"])
        let rest = try await store.registrations(after: page.last?.id, limit: 3, at: stage.at(1))
        #expect(rest.map(\.id.text) == ["registration-6"])
      }
    }
  }

  @Test(arguments: [
    "UPDATE requestor SET name = 'Evil'", "UPDATE requestor SET settings = settings || ' '",
    "UPDATE requestor SET signature = randomblob(32)",
    "UPDATE key_pair SET created = created + 1", "UPDATE key_pair SET secret = randomblob(61)",
    "UPDATE key_pair SET signature = randomblob(32)",
  ])
  func `a row that verified before is ignored once it is changed while the service runs`(
    change: String
  ) async throws {
    try await withStoreFile { file in
      try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        try await stage.reserve(stage.registration(1))
        try await stage.reserve(stage.registration(2))
        try await store.database.write { try $0.run("\(unsafeRawSQL: change)") }
        let what = change.contains("requestor") ? "requestor" : "row key"
        await #expect(throws: StoreError.notFound(what: what)) {
          try await stage.reserve(stage.registration(3))
        }
      }
    }
  }

  @Test func `a row that does not verify can be replaced by a valid one`() async throws {
    try await withStoreFile { file in
      let stage = try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        try await stage.reserve(stage.registration(1))
        return stage
      }
      try file.behindTheBack {
        try $0.run("UPDATE registration SET requestor = 'OTHER'")
        try $0.run("UPDATE provider SET name = 'Evil'")
      }
      try await file.with { store async throws in
        let record = try stage.registration(1)
        _ = try await store.reserve(record, within: LiveCodeLimits(5), at: stage.at(0))
        #expect(try await store.registration(record.id, at: stage.at(1)) == record)
        let local = Provider(id: stage.local, name: "Local", kind: .local)
        _ = try await store.put(.provider(local), replacing: nil, audit: nil, at: stage.at(1))
        #expect(try await store.provisioning().providers == [stage.local: local])
      }
    }
  }

  @Test func `a row signed with a key pair's secret but another row key is ignored`() async throws {
    try await withStoreFile { file in
      let house = try await file.with { try await FullHouse($0) }
      let forged = try house.stage.registration(7, device: 7)
      try await file.with { store async throws in
        let stolen = Vault(
          sealing: store.vault.sealing, records: store.vault.records, rows: Random.secret(),
          material: [:])
        try await store.database.write { context in
          try SignedRows(stolen, VerifiedRowCache()).insert(context, Tables.registrations, forged)
        }
        #expect(try await store.registration(forged.id, at: house.stage.at(1)) == nil)
        #expect(try await store.registration(house.registration, at: house.stage.at(1)) != nil)
      }
    }
  }

  @Test func `a sealed device id that is moved to another row does not open there`() async throws {
    try await withStoreFile { file in
      let stage = try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        for number in 1...2 { try await stage.reserve(stage.registration(number, device: number)) }
        return stage
      }
      try await file.with { store async throws in
        let boxes = try await store.database.read { context in
          try context.all("SELECT device FROM registration ORDER BY id") { try $0.blob(0) }
        }
        try #require(boxes.count == 2)
        for (box, row) in [(boxes[0], "registration-1"), (boxes[1], "registration-2")] {
          let device = try store.vault.open(box, "registration.device", of: row)
          #expect(device == Array("device-\(row.suffix(1))".utf8))
          #expect(throws: UnreadableRow.self) {
            try store.vault.open(box, "authentication.device", of: row)
          }
        }
        #expect(throws: UnreadableRow.self) {
          try store.vault.open(boxes[0], "registration.device", of: "registration-2")
        }
      }
      let bytes = try readFile(file.path)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(!text.contains("device-1"))
      #expect(text.contains("registration-1") && stage.requestor.text == "REF30")
    }
  }
}

extension FullHouse {
  /// The same records, read through another store that has opened their file.
  func on(_ store: any Store) -> FullHouse {
    var house = self
    house.stage.store = store
    return house
  }
}
