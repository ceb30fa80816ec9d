import PairingStore
import RegentPairing
import SQLite
import Testing

@testable import PairingStoreSQLite
@testable import StoreConformance

@Suite struct `permits in the file` {
  @Test func `name a long resource by its hash, and an ordinary one as it came`() async throws {
    try await withStoreFile { file in
      let fragment = "<rss><channel><title>\(String(repeating: "t", count: 400))</title></channel></rss>"
      let (ordinary, long) = ([fragment, "ESPN"], [String(repeating: "x", count: 8_000), "sha256:abc"])
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
      #expect(Set(names).isSuperset(of: ordinary) && names.count == 4)
      for name in names where !ordinary.contains(name) {
        #expect(name.hasPrefix("sha256:") && name.utf8.count == 71 && !long.contains(name))
      }
    }
  }
}
