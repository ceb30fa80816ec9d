import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

private let question = "/api/v1/tokens/authn"

/// A store that fails when a test says so, and records the requests that it received.
private final class TroubledStore: ForwardingStore {
  let target: any Store = MemoryStore()
  let trouble = Locked<StoreError?>(nil)
  private let asked = Locked<[String]>([])

  /// True while COMMITs wait for the standby, as on PostgreSQL.
  var awaitsStandby: Bool { if case .unknownOutcome = trouble.withLock({ $0 }) { true } else { false } }

  /// Returns the requests since the last call.
  func takeAsked() -> [String] {
    asked.withLock { asked in
      defer { asked = [] }
      return asked
    }
  }

  private func ask(_ verb: String) throws(StoreError) {
    asked.withLock { $0.append(verb) }
    if let trouble = trouble.withLock({ $0 }) { throw trouble }
  }

  func tryWriting() async throws(StoreError) {
    try ask("write")
    try await target.tryWriting()
  }

  func append(_ entry: AuditEntry) async throws(StoreError) {
    try ask("audit \(entry.action) \(entry.outcome.rawValue)")
    try await target.append(entry)
  }

  func approve(_ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> ApprovalResult
  {
    try ask("approve")
    return try await target.approve(id, request, audit: entry, at: now)
  }

  func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    try ask("pick up")
    return try await target.pickUp(
      requestor: requestor, device: device, of: owner, awaitsDelivery: awaitsDelivery, at: now)
  }
}

@Suite struct `A store whose changes wait for the standby` {
  private static let waiting = StoreError.unknownOutcome(reason: "it waits for the standby")

  @Test func `a node is not ready, and readyz writes nothing to find that out`() async throws {
    let store = TroubledStore()
    let service = try await TestService(on: store)
    let client = InProcessClient(try Router(ServiceRoutes.devices(service.core), refuse: ServiceRoutes.refuse))
    #expect(try await client.get("/readyz").status == 200)
    #expect(store.takeAsked().contains("write"))
    // Longer than the result of the last write probe is valid.
    service.clock.pass(.seconds(60))
    store.trouble.withLock { $0 = Self.waiting }
    let ready = try await client.get("/readyz")
    #expect(ready.status == 503 && ready.text.contains("changes wait for the standby"), "\(ready.text)")
    #expect(store.takeAsked() == [], "a write would block until the standby is back")
    store.trouble.withLock { $0 = nil }
    #expect(try await client.get("/readyz").status == 200)
  }

  @Test func `an approval that the store could not commit fails at once and writes no audit line`() async throws {
    let store = TroubledStore()
    let service = try await TestService(on: store)
    let admin = try AdminSocket(service.core)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await Box(service: service, client: client).code()
      func approve(_ account: String) async throws -> UInt16 {
        try await admin.send(
          "POST", "/v1/codes/\(code)/approve", "{\"provider\":\"\(Sample.provider)\",\"account\":\"\(account)\"}"
        ).status
      }
      for trouble in [Self.waiting, .unavailable(reason: "away"), .diskFull] {
        _ = store.takeAsked()
        store.trouble.withLock { $0 = trouble }
        #expect(try await approve(Sample.account) >= 500)
        #expect(store.takeAsked() == ["approve"], "\(trouble)")
      }
      store.trouble.withLock { $0 = nil }
      #expect(try await approve(Sample.account) == 200)
      _ = store.takeAsked()
      #expect(try await approve(Sample.account) == 409)
      #expect(
        store.takeAsked().contains("audit code.approve refused"), "a refused approval is written to the audit log")
    }
  }
}

@Suite struct `A store that is unavailable` {
  @Test func `an unavailable store causes a log line at the start, one a minute, and one at the end`() async throws {
    let store = TroubledStore()
    let lines = Locked<[String]>([])
    let service = try await TestService(
      on: store,
      log: ServiceLog { _, event, fields in
        guard "\(event)".hasPrefix("store") else { return }
        let values = fields.filter { $0.0 != "reason" }.map { "\($0.0)=\($0.1)" }
        lines.withLock { $0.append((["\(event)"] + values).joined(separator: " ")) }
      })
    func told() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      func call(_ count: Int) async throws {
        for _ in 0..<count { #expect(try await box.get(question).status == 503) }
      }
      store.trouble.withLock { $0 = .unavailable(reason: "away") }
      try await call(50)
      #expect(told() == ["store"])
      // A different failure is logged at once. The return of an earlier one is not.
      store.trouble.withLock { $0 = .diskFull }
      try await call(5)
      store.trouble.withLock { $0 = .unavailable(reason: "away") }
      try await call(5)
      #expect(told() == ["store"])
      service.clock.pass(.seconds(60))
      try await call(10)
      #expect(told() == ["store calls=59 seconds=60"])
      service.clock.pass(.seconds(59))
      try await call(1)
      // Failures of background work do not count as calls.
      service.core.storeTrouble.note(.unavailable(reason: "away"), isCall: false)
      #expect(told() == [])
      service.clock.pass(.seconds(1))
      service.core.storeTrouble.tell()
      #expect(told() == ["store calls=10 seconds=60"])
      store.trouble.withLock { $0 = nil }
      #expect(try await box.get(question).status != 503)
      service.clock.pass(.seconds(58))
      service.core.storeTrouble.tell()
      #expect(told() == [])
      // The line gives the length of the outage, not the time until its end was noticed.
      service.clock.pass(.seconds(1))
      for _ in 1...2 { service.core.storeTrouble.tell() }
      #expect(told() == ["store-back calls=71 seconds=119"])
      store.trouble.withLock { $0 = .unavailable(reason: "away") }
      try await call(2)
      #expect(told() == ["store"])
    }
  }

  @Test func `Retry-After is short while the outage may be a fail-over, and longer afterwards`() async throws {
    let store = TroubledStore()
    let service = try await TestService(on: store)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      func pause(with trouble: StoreError) async throws -> String? {
        store.trouble.withLock { $0 = trouble }
        return try await box.get(question).response.header("Retry-After")
      }
      let away = StoreError.unavailable(reason: "away")
      var told = [try await pause(with: away)]
      for span in [Duration.milliseconds(9_900), .milliseconds(100), .milliseconds(10_000)] {
        service.clock.pass(span)
        told.append(try await pause(with: away))
      }
      // A refusal for another reason has its own Retry-After.
      told.append(try await pause(with: .tooManyLiveCodes(limit: 9)))
      // After ten seconds without a failure the next outage counts as a new fail-over, although the log has not yet
      // reported the end of the first.
      #expect(told == ["1", "1", "5", "1", "30"])
    }
  }

  @Test func `a failure to send nonces to other nodes is logged once until sending works again`() throws {
    let lines = Locked<[String]>([])
    let outcome = Locked<Result<Void, StoreError>>(.failure(.unavailable(reason: "away")))
    let log = ServiceLog { _, event, _ in lines.withLock { $0.append("\(event)") } }
    let sender = BatchedSender<Int>(most: 9, failure: "nonces-untold", log: log) { _, told in
      told(outcome.withLock { $0 })
    }
    for number in 0..<50 { sender.add(number) }
    #expect(lines.withLock { $0 } == ["nonces-untold"])
    outcome.withLock { $0 = .success(()) }
    sender.add(50)
    outcome.withLock { $0 = .failure(.unavailable(reason: "away")) }
    for number in 51..<60 { sender.add(number) }
    #expect(lines.withLock { $0 } == ["nonces-untold", "nonces-untold"])
  }
}
