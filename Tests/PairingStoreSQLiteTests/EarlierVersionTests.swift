internal import FoundationEssentials
@testable import PairingStoreSQLite
import PairingStore
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentPairing
import SQLite
import TestSupport
import Testing

/// The databases that a released version wrote, in `Tests/fixtures/VERSION`.
///
/// `Tests/fixtures/make` creates them.
struct EarlierVersion: CustomTestStringConvertible, Sendable {
  let name: String
  var testDescription: String { name }
  var folder: String { "\(Self.folder)/\(name)" }

  private static let folder = "\(packageFolder())/Tests/fixtures"

  static let all: [EarlierVersion] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.first?.isNumber == true }.sorted().map { EarlierVersion(name: $0) }
  }()

  func facts() throws -> JSONValue { try JSONValue(reading: try readFile("\(folder)/facts.json")) }

  /// Copies one of the databases, so that a test may open and change it.
  func copy(_ file: String, in temporary: String) throws -> StoreFile {
    let text = String(decoding: try readFile("\(folder)/master-key"), as: UTF8.self)
    let master = try Hex.decode(String(text.prefix { !$0.isNewline }))
    try writeFile("\(temporary)/regent.db", readFile("\(folder)/\(file)"))
    return StoreFile(path: "\(temporary)/regent.db", master: Secret(copying: master))
  }
}

@Suite struct `Databases of earlier versions` {
  @Test func `the databases of release 0.1.0 are among the fixtures`() {
    #expect(EarlierVersion.all.map(\.name).contains("0.1.0"))
  }

  @Test(arguments: EarlierVersion.all, ["regent.db", "backup.db"])
  func `every row of an earlier version verifies and every sign-in still works`(version: EarlierVersion, file: String)
    async throws
  {
    let facts = try version.facts()
    let now = Instant(milliseconds: try #require(facts["written"]?.int64) + 1)
    try await withTemporaryFolder { temporary in
      let copy = try version.copy(file, in: temporary)
      try await copy.with { store in
        #expect(try await store.verifyRows(step: 10) == 0)
        #expect(try await store.emptyTables().filter { !laterTables.contains($0) } == [])

        let signIns = try await store.authentications(AuthenticationFilter(), after: nil, limit: 100, at: now)
        let degraded = try #require(facts["degraded"]?.string)
        let devices = try #require(facts["signedIn"]?.object).members.map(\.name) + [degraded]
        #expect(Set(signIns.map(\.device.text)) == Set(devices))
        for record in signIns where record.device.text != degraded {
          let pickUp = try await store.pickUp(
            requestor: record.authentication.requestor, device: record.deviceHash, awaitsDelivery: false, at: now)
          #expect(pickUp.signIn?.authentication == record.authentication, "\(record.device)")
        }

        let codes = try await store.registrations(after: nil, limit: 100, at: now)
        let states = Set(codes.map { $0.flow.settled(at: now).state.status.rawValue })
        #expect(states.isSuperset(of: ["offered", "opened", "claimed", "denied", "withdrawn", "expired", "delivered"]))
      }
    }
  }
}

/// Tables that were added after 0.1.0, so its databases have no rows in them.
private let laterTables: Set = [
  "platform_box", "platform_permission", "used_profile_request", "enrolment", "oauth_client", "oauth_grant",
  "client_invitation",
]

extension SQLiteStore {
  /// Tables without a row.
  ///
  /// A fixture without rows in a table would prove nothing about that table.
  fileprivate func emptyTables() async throws -> [String] {
    try await database.read { context in
      try context.all(
        """
        SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name
        """
      ) { try $0.text(0) }
      .filter { try context.value("SELECT count(*) FROM \(unsafeRawSQL: $0)", as: Int.self) == 0 }
    }
  }
}
