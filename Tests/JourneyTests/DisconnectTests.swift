import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentHTTPCodec
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

/// A store in which the reservation of a code waits until the test releases it.
private final class HeldStore: ForwardingStore {
  let target: any Store = MemoryStore()
  let hasBegun = Flag("the call writes")
  let mayGoOn = Flag("the test releases the store")

  func reserve(
    _ record: RegistrationRecord, within limits: LiveCodeLimits, at now: Instant
  ) async throws(StoreError) -> Reservation {
    hasBegun.raise()
    try? await mayGoOn.wait()
    return try await target.reserve(record, within: limits, at: now)
  }
}

@Suite struct `Clients that disconnect` {
  private func withServer(
    of service: TestService, _ body: (Server, ListenAddress) async throws -> Void
  ) async throws {
    let server = try Server([Listener(.network(.loopback, port: 0), handler: try service.router())])
    defer { server.stop(within: .zero) }
    try await body(server, try #require(server.addresses.first))
  }

  private func head(
    _ service: TestService, _ method: String, _ target: String, wait: Bool = false
  ) throws -> [UInt8] {
    let signature = try service.signature(method, String(target.prefix { $0 != "?" }))
    let fields = [signature] + (wait ? [("Prefer", "wait=55")] : [("Content-Length", "0")])
    let lines = ["\(method) \(target) HTTP/1.1", "Host: a"] + fields.map { "\($0.0): \($0.1)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  @Test func `a held poll ends when its client closes the connection`() async throws {
    let service = try await TestService()
    let code = try await service.code(InProcessClient(try service.router()))
    let request = try head(service, "GET", "/reggie/v1/REF30/regcode/\(code).json", wait: true)
    try await withServer(of: service) { server, address in
      var connection: WireConnection? = try WireConnection(address)
      try connection?.send(request)
      try await eventually("the poll is held") { service.core.waiters.count == 1 }
      connection = nil
      try await eventually("the poll ends") { service.core.waiters.count == 0 }
      #expect(server.statistics.abandoned == 1)
    }
  }

  @Test func `a call that has begun to write completes although its client has disconnected`() async throws {
    let store = HeldStore()
    let service = try await TestService(on: store)
    let request = try head(service, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box-1")
    try await withServer(of: service) { server, address in
      var connection: WireConnection? = try WireConnection(address)
      try connection?.send(request)
      try await store.hasBegun.wait()
      connection = nil
      try await eventually("the service notices it") { server.statistics.abandoned == 1 }
      store.mayGoOn.raise()
      // The row is stored, and the memory from which polls are answered has the code, too.
      try await eventually("the code is in memory") { service.core.codes.remembered == 1 }
      #expect(try await store.registrations(after: nil, limit: 10, at: service.clock.now).count == 1)
    }
  }
}
