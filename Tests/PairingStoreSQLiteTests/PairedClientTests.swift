import PairingStore
@testable import PairingStoreSQLite
import RegentPairing
import SQLite
@testable import StoreConformance
import TestSupport
import Testing

/// The row of a client before the column `paired` existed.
///
/// It is spelled out because `Tables` describes today's row.
private let earlierClients = Resigning.RawTable(
  raw: "oauth_client", version: 1, signer: .service,
  [
    .text("id"), .text("requestor"), .text("origin"), .text("application"), .text("name"), .bytes("secret"),
    .bytes("registration_token"), .text("metadata"), .text("audience"), .number("created"),
  ])

@Suite struct `Clients from before the column paired` {
  @Test func `clients of an earlier version verify after the migration and count as paired, and forged ones do not`()
    async throws
  {
    try await withStoreFile { file in
      let master = try DataKeys.masterKey(file.master)
      let steps = Schema.migrations(MigrationKeys(master)).prefix { $0.name != "clients that paired" }
      try #require(steps.count < Schema.migrations(MigrationKeys(master)).count)
      var options = DatabaseOptions(
        path: file.path, applicationID: Schema.applicationID, migrations: Array(steps))
      options.fileLayer = file.fileLayer
      let earlier = try Database(options)
      let vault = try earlier.writeBlocking { try DataKeys.open(in: $0, with: master) }
      try earlier.writeBlocking { context in
        for id in ["kodi", "forged"] {
          try SignedRows(vault, VerifiedRowCache()).insert(
            context, earlierClients,
            [
              .text(id), .text("acme"), .text("itself"), .null, .text("Kodi"), .null, .null, .text("{}"), .null,
              .integer(77),
            ])
        }
        try context.run("UPDATE oauth_client SET name = 'Bank' WHERE id = 'forged'")
      }
      earlier.close()
      try await file.with { store in
        let kodi = try await store.oauthClient(try ConformanceFixture.name("kodi"))
        #expect(kodi?.paired == Instant(milliseconds: 77))
        #expect(try await store.oauthClient(try ConformanceFixture.name("forged")) == nil)
        while try await store.forgetExpired(at: Instant(milliseconds: 99 * 86_400_000), limit: 9) > 0 {}
        #expect(try await store.oauthClients(of: nil, after: nil, limit: 9).map(\.id.text) == ["kodi"])
      }
    }
  }
}
