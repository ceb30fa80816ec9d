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

/// A store that does not do what it is asked for, when a test says so, and writes down what it was asked.
private final class TroubledStore: ForwardingStore {
  let target: any Store = MemoryStore()
  let trouble = Locked<StoreError?>(nil)
  private let asked = Locked<[String]>([])

  /// As one has it whose COMMITs wait for the standby.
  var awaitsStandby: Bool { if case .unknownOutcome = trouble.withLock({ $0 }) { true } else { false } }

  /// What it was asked for since somebody looked last.
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

@Suite struct `while changes wait for the standby` {
  private static let waiting = StoreError.unknownOutcome(reason: "it waits for the standby")

  @Test func `a node is not ready, and does not try to write to find that out`() async throws {
    let store = TroubledStore()
    let service = try await TestService(on: store)
    let client = InProcessClient(try Router(ServiceRoutes.devices(service.core), refuse: ServiceRoutes.refuse))
    #expect(try await client.get("/readyz").status == 200)
    #expect(store.takeAsked().contains("write"))
    // Longer than what was tried last counts.
    service.clock.pass(.seconds(60))
    store.trouble.withLock { $0 = Self.waiting }
    let ready = try await client.get("/readyz")
    #expect(ready.status == 503 && ready.text.contains("changes wait for the standby"), "\(ready.text)")
    #expect(store.takeAsked() == [], "whoever tries waits as long as the standby is away")
    store.trouble.withLock { $0 = nil }
    #expect(try await client.get("/readyz").status == 200)
  }

  @Test func `an approval that nobody refused is told at once, without a line that would wait as long`() async throws {
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
      #expect(store.takeAsked().contains("audit code.approve refused"), "what was refused is written down")
    }
  }
}

@Suite struct `a store that is away` {
  @Test func `is a line when it begins, one a minute, and one when it is over`() async throws {
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
      // Other trouble is news, and what was there before is not when it comes back.
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
      // What asks by itself is no call.
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
      // It says how long there was trouble, not when that was found out.
      service.clock.pass(.seconds(1))
      for _ in 1...2 { service.core.storeTrouble.tell() }
      #expect(told() == ["store-back calls=71 seconds=119"])
      store.trouble.withLock { $0 = .unavailable(reason: "away") }
      try await call(2)
      #expect(told() == ["store"])
    }
  }

  @Test func `has boxes come back soon while it may be a fail-over, and later when it is none`() async throws {
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
      // What is refused for another reason says its own.
      told.append(try await pause(with: .tooManyLiveCodes(limit: 9)))
      // After ten seconds without trouble it is another fail-over, though the log has not said that the first is over.
      #expect(told == ["1", "1", "5", "1", "30"])
    }
  }

  @Test func `is one line of what other nodes are not told, until they are told again`() throws {
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
