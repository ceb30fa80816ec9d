import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Metrics that are read from the store once a minute.
@Suite struct `Facts for monitoring` {
  @Test func `metrics tell readiness, the last backup and the number of signed-in boxes`() async throws {
    try await withTemporaryFolder { folder in
      let store = try SQLiteStore(
        SQLiteStoreOptions(
          path: "\(folder)/regent.db", masterKey: Random.secret(), wallClock: { Instant(milliseconds: 0) }))
      defer { store.close() }
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        for device in ["box-1", "box-2"] {
          try await Box(service: service, client: client, device: device).signIn()
        }
      }
      func value(_ name: String) -> String? {
        let lines = service.core.metricsText().split(separator: "\n")
        return lines.first { $0.hasPrefix("regent_\(name) ") }.map { String($0.split(separator: " ")[1]) }
      }
      await service.core.readMonitoredFacts()
      #expect(value("signed_in_boxes") == "2")
      #expect(value("ready") == "1" && value("next_start_problem") == "0")
      #expect(value("last_backup_timestamp_seconds") == "0" && value("certificate_expires_timestamp_seconds") == "0")
      let made = service.clock.now
      try await service.core.store.keepNumbers(String(made.milliseconds), as: .backup)
      await service.core.readMonitoredFacts()
      #expect(value("last_backup_timestamp_seconds") == "\(made.milliseconds / 1_000)")
      service.core.drain.set(true)
      #expect(value("ready") == "0")
    }
  }
}
