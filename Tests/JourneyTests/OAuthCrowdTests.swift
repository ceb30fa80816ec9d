import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentHTTPCodec
import RegentPairing
import RegentOAuth
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Registers clients as the endpoint does, but without HTTP forms: a hundred thousand forms would take minutes.
private struct RegistrationWithoutForms {
  let service: TestService
  let store: SQLiteStore

  /// Does what `RegistrationEndpoint` does, and returns whether the client was admitted.
  func admit(_ number: Int, from address: IPAddress?) async throws -> Bool {
    let core = service.core
    let requestor: RequestorID = try named(Sample.requestor)
    do throws(CallError) {
      try core.limits.take(.program, from: address, at: requestor)
    } catch {
      return false
    }
    try await put(number, created: core.clock.now)
    return true
  }

  func put(_ number: Int, created: Instant) async throws {
    let client = OAuthClientRecord(
      id: try named("client-\(number)"), requestor: try named(Sample.requestor), origin: .itself, name: "One",
      metadata: "{}", created: created)
    try await store.put(
      client, replacing: nil, in: .open(at: service.core.age.now), audit: nil, at: service.core.clock.now)
  }

  func isThere(_ number: Int) async throws -> Bool { try await store.oauthClient(try named("client-\(number)")) != nil }

  func count() async throws -> Int {
    try await store.oauthClients(of: nil, after: nil, limit: .max).count
  }
}

@Suite struct `Floods of client registrations` {
  // A hundred thousand attempts at one a second take more than a day. The restart in between gives the source its first
  // hundred again. The clock is set ahead and back.
  @Test func `one source never takes the last place of open registration and evicts no other client`() async throws {
    try await withFileStore { store in
      var programs = RegistrationWithoutForms(service: try await TestService(on: store), store: store)
      let source = IPAddress("192.0.2.7")
      var (admitted, most) = (0, 0)
      for second in 0..<100_000 {
        programs.service.clock.pass(.seconds(1))
        if try await programs.admit(second, from: source) { admitted += 1 }
        if second == 50_000 {
          programs = RegistrationWithoutForms(
            service: try await TestService(restarting: programs.service, on: store), store: store)
          // A client of another source.
          #expect(try await programs.admit(1_000_000, from: IPAddress("198.51.100.1")))
        }
        // The clock is two days ahead for ten minutes, which must not make any client older.
        if second == 60_000 { programs.service.clock.setAhead(.seconds(2 * 86_400)) }
        if second == 60_600 { programs.service.clock.setAhead(.zero) }
        if second % 3600 == 0 || second == 60_300 {
          await Upkeep(programs.service.core).once()
          most = max(most, try await programs.count())
        }
      }
      #expect((10_100...10_300).contains(admitted), "\(admitted)")
      // One day of registrations at the allowed rate, plus the first hundred of both processes.
      #expect((8_000...8_900).contains(most), "\(most)")
      #expect(try await programs.isThere(1_000_000))
    }
  }

  // Many sources together can fill all places. That locks new clients out for an hour, and evicts no client that
  // registered in that hour.
  @Test func `a flood from many sources locks new clients out for an hour and evicts no younger client`() async throws {
    try await withFileStore { store in
      let programs = RegistrationWithoutForms(service: try await TestService(on: store), store: store)
      let start = programs.service.clock.now
      try await programs.put(0, created: start)
      for number in 1..<ClientRoom.mostOpen { try await programs.put(number, created: start + .seconds(1)) }
      programs.service.clock.pass(.seconds(3599))
      await #expect(throws: StoreError.tooManyClients(limit: ClientRoom.mostOpen)) {
        try await programs.put(20_000, created: programs.service.clock.now)
      }
      #expect(try await programs.isThere(0))
      programs.service.clock.pass(.seconds(1))
      try await programs.put(20_000, created: programs.service.clock.now)
      #expect(try await !programs.isThere(0))
      #expect(try await programs.count() == ClientRoom.mostOpen)
      // The next place becomes free a second later, when the next oldest client is an hour old.
      await #expect(throws: StoreError.tooManyClients(limit: ClientRoom.mostOpen)) {
        try await programs.put(20_001, created: programs.service.clock.now)
      }
    }
  }
}

/// Runs in virtual time; `make long` does the same with a real service and real seconds
/// (`Tests/acceptance/oauth/pace.py`).
@Suite struct `Ten thousand OAuth clients that poll for ten minutes` {
  @Test func `clients polling every five seconds are never told to slow down, those polling every two always`()
    async throws
  {
    let service = try await TestService()
    let core = service.core
    var generator = SeededGenerator(state: 8628)
    let clients = try (0..<10_000).map { number in
      let device: DeviceID = try named("device-\(number)")
      return RegistrationRecord(
        id: try named("code-\(number)"), code: core.hasher.code(try RegistrationCode(typed: "BCDFGHJK")),
        requestor: try named(Sample.requestor), device: device, deviceHash: core.hasher.device(device),
        rowKey: try named("rowsOfREF30"), preselected: nil, profile: nil, about: DeviceDescription(),
        flow: PairingFlow(issued: core.clock.now, lifetime: .usual, match: nil))
    }
    // The clients that poll in each millisecond. The first client polls every two seconds. The others poll every five,
    // give or take a second, because the network delays some polls more than others.
    var due: [Int: [Int]] = [:]
    for client in clients.indices { due[Int.random(in: 0..<5000, using: &generator), default: []].append(client) }
    var (asked, told, hasty) = (0, 0, [OAuthError]())
    for millisecond in 0..<600_000 {
      for client in due.removeValue(forKey: millisecond) ?? [] {
        let record = clients[client]
        let answer = core.notYet(record.id, of: record.deviceHash, at: record.requestor)
        let pause = client == 0 ? 2000 : Int.random(in: 4000...6000, using: &generator)
        due[millisecond + pause, default: []].append(client)
        if client == 0 {
          hasty.append(answer)
        } else {
          asked += 1
          if answer != .pending { told += 1 }
        }
      }
      service.clock.pass(.milliseconds(1))
    }
    #expect(asked > 1_100_000)
    #expect(told == 0)
    #expect(hasty.first == .pending)
    #expect(hasty.dropFirst().count > 290)
    #expect(hasty.dropFirst().allSatisfy { $0 == .slowDown })
    // Ten seconds without polls later the memory about them is gone.
    service.clock.pass(.seconds(11))
    _ = core.notYet(clients[1].id, of: clients[1].deviceHash, at: clients[1].requestor)
    #expect(core.oauth.paces.count == 1)
  }
}
