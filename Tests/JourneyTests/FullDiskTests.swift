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

@Suite struct `A service whose disk is full` {
  @Test func `is not ready as long as nothing can be written, and then again`() async throws {
    let disk = FaultyDisk()
    try await withFileStore(on: disk) { store in
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        func ready() async throws -> (status: UInt16, text: String) {
          let answer = try await client.get("/readyz")
          return (answer.status, answer.text)
        }
        #expect(try await ready().status == 200)
        // Nobody writes anything; the probe alone finds it.
        disk.fail([.write], at: 1, forEver: true, with: .full)
        service.clock.pass(.seconds(31))
        let full = try await ready()
        #expect(full.status == 503)
        #expect(full.text.contains("the disk is full: nothing can be written"))
        let refusals = store.statistics.diskFull
        for _ in 1...20 { #expect(try await ready().status == 503) }
        // Whoever asks often does not wear the disk out.
        #expect(store.statistics.diskFull == refusals)
        disk.heal()
        service.clock.pass(.seconds(2))
        #expect(try await ready().status == 200)
      }
    }
  }

  @Test func `exchanges nothing and decides nothing, and the same request counts afterwards`() async throws {
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
        #expect(decisions.map(\.isGranted) == [true], "half a decision")
        #expect(try await stage.verdict(word) == "204", "used up by a refusal")
        #expect(try await stage.verdict(word) == "used")
        #expect(try await stage.decide("denied") == 204)
        #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
      }
    }
  }
}
