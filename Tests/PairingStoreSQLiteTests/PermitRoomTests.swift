import PairingStore
import RegentPairing
import SQLite
import Testing

@testable import PairingStoreSQLite
@testable import StoreConformance

@Suite struct `Permits in the SQLite file` {
  /// The permit row as version 0.1.0 wrote it.
  private static let earlier = Table<PermitRecord>(
    "permit", signer: .rowPair, key: 2,
    [
      .text("authentication"), Column(name: "resource", kind: .text, isLong: true), .number("issued"),
      .number("expires"), .text("public_key"),
    ]
  ) { record in
    [
      .text(record.permit.authentication.text), .text(record.permit.resource.text),
      .integer(record.permit.issued.milliseconds), .integer(record.permit.expires.milliseconds),
      .text(record.rowKey.text),
    ]
  } decode: { _ throws(UnreadableRow) in
    throw UnreadableRow()
  }

  @Test func `permits of an earlier version are found by their full resource names and renewed in place`() async throws
  {
    try await withStoreFile { file in
      try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        let signIn = try await stage.signedIn(1)
        let resource: ResourceID = try ConformanceFixture.name(String(repeating: "t", count: 1_024))
        func permit(_ second: Int) -> Permit {
          Permit(resource, for: signIn.authentication, lifetime: .seconds(100), at: stage.at(second))
        }
        let old = PermitRecord(permit: permit(3), rowKey: signIn.rowKey)
        _ = try await store.write { context, rows in try rows.insert(context, Self.earlier, old) }
        let found = try await store.permit(signIn.authentication.id, resource, at: stage.at(4))
        #expect(found == .inForce(old.permit))
        #expect(try await store.record(permit(99), at: stage.at(99)) == permit(99))
        let count = try await store.database.read { try $0.value("SELECT count(*) FROM permit") ?? 0 }
        #expect(count == 1)
        #expect(try await store.verifyRows() == 0)
      }
    }
  }

  @Test func `a pass of an earlier version with a full resource name counts that resource once`() async throws {
    try await withStoreFile { file in
      try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        let guest = try await store.signInWithoutCode(stage.guest(1, at: stage.promotion, identity: 1), at: stage.at(0))
        let long: ResourceID = try ConformanceFixture.name(String(repeating: "t", count: 1_024))
        let old = TemporaryPassRecord(
          requestor: stage.requestor, provider: stage.promotion, device: try stage.hash(1001),
          identity: try stage.hash(3001), use: TemporaryPassUse(started: stage.at(1), resources: [long]))
        _ = try await store.write { context, rows in try rows.keep(context, Tables.passes, old) }
        for resource in [long, try ConformanceFixture.name("A")] {
          _ = try await store.openTemporarily(guest.authentication.id, resource, at: stage.at(10))
        }
        let use = try await store.temporaryPass(
          requestor: stage.requestor, provider: stage.promotion, device: old.device, identity: old.identity)
        #expect(use.resources.count == 2 && !use.resources.contains(long))
        #expect(try await store.verifyRows() == 0)
      }
    }
  }

  @Test func `a permit stores a long resource by its hash and a short one as it is`() async throws {
    try await withStoreFile { file in
      let (title, fragment) = (String(repeating: "t", count: 128), "<rss><channel><title>News</title></channel></rss>")
      let (ordinary, long) = (
        [fragment, title, "ESPN"], [title + "t", String(repeating: "x", count: 8_000), "sha256:abc"]
      )
      try await file.with { store in
        let stage = try await ConformanceFixture(store)
        let authentication = try await stage.signedIn(1).authentication
        for text in ordinary + long {
          let resource: ResourceID = try ConformanceFixture.name(text)
          let permit = Permit(resource, for: authentication, lifetime: .seconds(900), at: stage.at(3))
          _ = try await store.record(permit, at: stage.at(3))
        }
      }
      let names = try file.behindTheBack { try $0.all("SELECT resource FROM permit") { try $0.text(0) } }
      #expect(Set(names).isSuperset(of: ordinary) && names.count == 6)
      for name in names where !ordinary.contains(name) {
        #expect(name.hasPrefix("sha256:") && name.utf8.count == 71 && !long.contains(name))
      }
    }
  }
}
