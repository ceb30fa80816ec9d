import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import SQLite
import ServiceTestSupport
import StorageFaults
import TestSupport
import Testing

@testable import PairingService

@Suite struct `A service with a full disk` {
  @Test func `readyz reports 503 while nothing can be written, and 200 afterwards`() async throws {
    let disk = FaultyDisk()
    try await withFileStore(on: disk) { store in
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        func ready() async throws -> (status: UInt16, text: String) {
          let answer = try await client.get("/readyz")
          return (answer.status, answer.text)
        }
        #expect(try await ready().status == 200)
        // No request writes anything, so only the probe of readyz can find the full disk.
        disk.fail([.write], at: 1, forEver: true, with: .full)
        service.clock.pass(.seconds(31))
        let full = try await ready()
        #expect(full.status == 503)
        #expect(full.text.contains("the disk is full: nothing can be written"))
        let refusals = store.statistics.diskFull
        for _ in 1...20 { #expect(try await ready().status == 503) }
        // Frequent calls of readyz do not cause a write each.
        #expect(store.statistics.diskFull == refusals)
        disk.heal()
        service.clock.pass(.seconds(2))
        #expect(try await ready().status == 200)
      }
    }
  }

  @Test func `with a full disk no exchange and no decision happens, and the same requests work afterwards`()
    async throws
  {
    let disk = FaultyDisk()
    try await withFileStore(on: disk) { store in
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let stage = try await PlatformStage(client, service)
        #expect(try await stage.decide("granted") == 204)
        let word = try stage.word(try await stage.request())
        disk.fail([.write], at: 1, forEver: true, with: .full)
        #expect(try await stage.verdict(word) == "503")
        #expect(try await stage.decide("denied") == 503)
        #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 404)
        disk.heal()
        let decisions = try await store.decisions(of: service.core.hasher.device(try named("the-box")))
        #expect(decisions.map(\.isGranted) == [true], "a refused decision must not be stored in part")
        #expect(try await stage.verdict(word) == "204", "the refusal must not use up the assertion")
        #expect(try await stage.verdict(word) == "used")
        #expect(try await stage.decide("denied") == 204)
        #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
      }
    }
  }
}
