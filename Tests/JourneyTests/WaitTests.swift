import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingStore
import PairingStoreMemory
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPServer
@testable import PairingService

/// The four resources that a device may poll with `Prefer: wait`.
private enum Awaited: String, CaseIterable {
  case record, authentication, check, poll

  func target(_ code: String) -> String {
    switch self {
    case .record: "/reggie/v1/REF30/regcode/\(code).json"
    case .authentication: "/api/v1/tokens/authn.json?deviceId=box-1"
    case .check: "/api/v1/checkauthn.json?deviceId=box-1"
    case .poll: "/api/v1/authenticate/\(code).json"
    }
  }

  var pending: UInt16 {
    switch self {
    case .record: 200
    case .authentication, .poll: 404
    case .check: 403
    }
  }
}

extension TestService {
  fileprivate func wait(
    _ client: any TestClient, _ target: String, _ seconds: Int = 55
  ) async throws -> TestResponse {
    try await call(client, "GET", target, headers: [("Prefer", "wait=\(seconds)")])
  }

  /// The head of a request that asks to be parked.
  fileprivate func head(_ method: String, _ target: String) throws -> String {
    let path = target.prefix { $0 != "?" }
    let signature = try signature(method, String(path))
    return "\(method) \(target) HTTP/1.1\r\nHost: a\r\nPrefer: wait=55\r\n"
      + "\(signature.name): \(signature.value)\r\n\r\n"
  }

  /// Waits until this many requests are parked.
  fileprivate func held(_ count: Int = 1) async throws {
    try await eventually("\(count) requests are parked") { core.waiters.count == count }
  }
}

@Suite struct `Long polls` {
  @Test(arguments: Awaited.allCases, TestTransport.allCases)
  private func `a long poll of each resource is parked until the approval`(awaited: Awaited, transport: TestTransport)
    async throws
  {
    let service = try await TestService()
    try await transport.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let reply = service.wait(client, awaited.target(code))
      try await service.held()
      try await service.approve(code)
      let answer = try await reply
      #expect(answer.status == 200)
      #expect(answer.header("preference-applied") == "wait=55")
      #expect(answer.header("cache-control") == "no-store")
      #expect(service.core.waiters.count == 0)
    }
  }

  @Test(arguments: [Awaited.authentication, .check])
  private func `a sign-in without the code completes the long poll`(awaited: Awaited) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let reply = service.wait(client, awaited.target(code))
      try await service.held()
      let box = Box(service: service, client: client, device: "box-1")
      #expect(try await box.preview(Sample.pass).status == 204)
      #expect(try await reply.status == 200)
    }
  }

  @Test func `a device of a provider with authn-all is signed in at the end of its long poll`() async throws {
    let service = try await TestService(usesMachineClock: true)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client, "box-1", "&mvpd=\(Sample.provider)")
      async let reply = service.wait(client, Awaited.authentication.target(code), 1)
      try await service.held()
      try await service.integrate { $0.degradation = .authenticateEverybody }
      #expect(try await reply.status == 200)
    }
  }

  @Test(arguments: Awaited.allCases)
  private func `denial, expiry and withdrawal complete the long poll`(awaited: Awaited) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let first = try await service.code(client)
      let (id, session) = (try service.found(first), try await service.session())
      _ = try await service.core.codeTransitions.claim(id, by: session)
      async let denied = service.wait(client, awaited.target(first))
      try await service.held()
      _ = try await service.core.codeTransitions.deny(id, by: session, audit: nil)
      #expect(try await denied.status == 403)
      #expect(try await denied.text.contains("denied"))

      let second = try await service.code(client)
      async let withdrawn = service.wait(client, awaited.target(second))
      try await service.held()
      #expect(
        try await service.call(
          client, "DELETE", "/reggie/v1/REF30/regcode/\(second)?deviceId=box-1"
        ).status == 204)
      #expect(try await withdrawn.status == (awaited == .check ? 403 : 404))

      let third = try await service.code(client, "box-1", "&ttl=30")
      async let expired = service.wait(client, awaited.target(third))
      try await service.held()
      service.clock.pass(.seconds(31))
      #expect(try await expired.status == (awaited == .check ? 403 : 410))
      #expect(try await expired.text.contains("expired"))
    }
  }

  @Test(arguments: Awaited.allCases)
  private func `a newer code of the device completes the long poll for the older one`(awaited: Awaited)
    async throws
  {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let old = service.wait(client, awaited.target(code))
      try await service.held()
      _ = try await service.code(client)
      #expect(try await old.status == (awaited == .check ? 403 : 404))
    }
  }

  @Test(arguments: Awaited.allCases)
  private func `at its deadline a long poll gets the response of a plain poll`(awaited: Awaited) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      let plain = try await service.call(client, "GET", awaited.target(code))
      async let reply = service.wait(client, awaited.target(code), 20)
      try await service.held()
      // The deadline is up to an eighth earlier: `long polls that start together end at different times`.
      service.clock.pass(.milliseconds(17_400))
      #expect(service.core.waiters.count == 1)
      service.clock.pass(.milliseconds(2_700))
      let answer = try await reply
      #expect(answer.status == awaited.pending)
      #expect(answer.text == plain.text)
      #expect(answer.header("preference-applied") == "wait=20")
    }
  }

  @Test func `long polls that start together end at different times`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let boxes = 64
      var codes: [String] = []
      for box in 0..<boxes { codes.append(try await service.code(client, "box-\(box)")) }
      try await withThrowingTaskGroup(of: UInt16.self) { group in
        for code in codes {
          group.addTask { try await service.wait(client, Awaited.record.target(code), 48).status }
        }
        try await service.held(boxes)
        service.clock.pass(.milliseconds(41_900))
        #expect(service.core.waiters.count == boxes)
        // In the middle of the last eighth some long polls have ended and others have not.
        service.clock.pass(.milliseconds(3_100))
        #expect(try await group.next() == 200)
        #expect(service.core.waiters.count > 0)
        service.clock.pass(.milliseconds(3_100))
        for try await status in group { #expect(status == 200) }
      }
      #expect(service.core.waiters.count == 0)
    }
  }

  /// A parked poll keeps nothing of its request in memory: not the head, not its strings, not the connection's buffers.
  @Test(arguments: Awaited.allCases)
  private func `a parked request keeps no memory of the request`(awaited: Awaited) async throws {
    let service = try await TestService()
    let router = try service.router()
    let code = try await service.code(InProcessClient(router))
    let reply = PendingReply { _ in }
    let request = try Self.hold(reply, try service.head("GET", awaited.target(code)), by: router)
    #expect(request.storage == nil)
    #expect(service.core.waiters.count == 1)
    service.core.waiters.stop()
  }

  private struct Watched {
    weak var storage: RequestStorage?
  }

  /// Handles a request that is freed on return, unless the parked reply keeps it.
  private static func hold(_ reply: PendingReply, _ head: String, by router: some Handler) throws -> Watched {
    let request = try Request(head: Array(head.utf8))
    guard case .later(let start) = router.handle(request) else {
      Issue.record("the request was not parked")
      return Watched()
    }
    start(reply)
    return Watched(storage: request.storage)
  }

  @Test func `a long poll is held for at most fifty-five seconds`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let reply = service.wait(client, Awaited.authentication.target(code), 3600)
      try await service.held()
      service.clock.pass(.milliseconds(55_100))
      #expect(try await reply.header("preference-applied") == "wait=55")
    }
  }

  @Test(arguments: [Awaited.authentication, .check, .poll])
  private func `a change that does not alter the response completes only long polls with a sequence number`(
    awaited: Awaited
  ) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let plain = service.wait(client, awaited.target(code))
      async let record = service.wait(client, Awaited.record.target(code) + "?after=1")
      try await service.held(2)
      _ = try await service.core.codeTransitions.open(try service.found(code))
      let opened = try await record.json()
      #expect(try opened.string("state") == "opened")
      #expect(try opened.int64("sequence") == 2)
      #expect(service.core.waiters.count == 1)
      try await service.approve(code)
      #expect(try await plain.status == 200)

      let next = try await service.code(client, "box-2")
      let target = awaited.target(next).replacing("box-1", with: "box-2")
      async let counting = service.wait(
        client, target + (target.contains("?") ? "&" : "?") + "after=1")
      try await service.held()
      _ = try await service.core.codeTransitions.open(try service.found(next))
      #expect(try await counting.status == awaited.pending)
    }
  }

  @Test(arguments: Awaited.allCases)
  private func `a long poll with an out-of-date sequence number is answered at once`(awaited: Awaited) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      let target = awaited.target(code)
      for after in ["0", "2", "-1", "9223372036854775807"] {
        let answer = try await service.wait(
          client, target + (target.contains("?") ? "&" : "?") + "after=\(after)")
        #expect(answer.status == awaited.pending)
        #expect(answer.header("preference-applied") == nil)
      }
      for after in ["x", "1.5", "99999999999999999999"] {
        let answer = try await service.wait(
          client, target + (target.contains("?") ? "&" : "?") + "after=\(after)")
        #expect(answer.status == 400)
      }
    }
  }

  @Test func `a request without a pending code is not parked`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      for target in [Awaited.authentication, .check].map({ $0.target("") }) {
        let answer = try await service.wait(client, target)
        #expect([403, 404].contains(answer.status))
        #expect(answer.header("preference-applied") == nil)
      }
      let code = try await service.code(client)
      try await service.approve(code)
      #expect(try await service.wait(client, Awaited.authentication.target(code)).status == 200)
    }
  }

  @Test(arguments: Awaited.allCases)
  private func `a newer long poll for the same resource displaces the older one`(awaited: Awaited) async throws {
    let service = try await TestService()
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let first = service.wait(client, awaited.target(code))
      try await service.held()
      async let second = service.wait(client, awaited.target(code))
      let displaced = try await first
      #expect(displaced.status == awaited.pending)
      #expect(displaced.header("preference-applied") == "wait=55")
      try await service.held()
      // A long poll for another resource of the same device is separate.
      let another: Awaited = awaited == .record ? .check : .record
      async let third = service.wait(client, another.target(code))
      try await service.held(2)
      try await service.approve(code)
      #expect(try await second.status == 200)
      #expect(try await third.status == 200)
    }
  }

  @Test func `a stopping service answers its long polls and closes their connections`() async throws {
    let service = try await TestService()
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let record = service.wait(client, Awaited.record.target(code))
      async let check = service.wait(client, Awaited.check.target(code))
      try await service.held(2)
      service.core.waiters.stop()
      for answer in [try await record, try await check] {
        #expect([200, 403].contains(answer.status))
        #expect(answer.header("connection") == "close")
      }
      // The same holds for new requests.
      let late = try await service.wait(client, Awaited.poll.target(code))
      #expect(late.status == 404)
      #expect(late.header("connection") == "close")
    }
  }

  @Test func `a client that disconnects leaves no parked request behind`() async throws {
    let service = try await TestService()
    let router = try service.router()
    let client = InProcessClient(router)
    let code = try await service.code(client)
    let request = try Request(head: Array(try service.head("GET", Awaited.record.target(code)).utf8))
    guard case .later(let start) = router.handle(request) else {
      Issue.record("the request was not parked")
      return
    }
    let reply = PendingReply { _ in Issue.record("an abandoned request was answered") }
    start(reply)
    #expect(service.core.waiters.count == 1)
    reply.abandon()
    #expect(service.core.waiters.count == 0)
    try await service.approve(code)
  }

  @Test(arguments: [Awaited.authentication, .check, .poll, .record])
  private func `after a restart the long poll of a returning device is held again`(awaited: Awaited)
    async throws
  {
    let store = MemoryStore()
    let first = try await TestService(on: store)
    let code = try await first.code(InProcessClient(try first.router()))
    let service = try await ServiceCore(
      ServiceOptions(publicURL: "https://tv.example.org"), store: store, clock: first.core.clock)
    let router = try Router(ServiceRoutes.devices(service), refuse: ServiceRoutes.refuse)
    let client = InProcessClient(router)
    async let reply = first.wait(client, awaited.target(code))
    try await eventually("the long poll is parked") { service.waiters.count == 1 }
    // The restarted service knows pending codes, and their polls need no store access.
    let id = try #require(
      service.codes.find(service.hasher.code(try RegistrationCode(typed: code)))?.id)
    _ = try await service.codeTransitions.approve(
      id,
      ApprovalRequest(
        by: .operator(
          try named("root"), for: Viewer(provider: try named("local"), account: try named("demo"))),
        authentication: try named("authentication-1")), audit: nil)
    #expect(try await reply.status == 200)
  }

  @Test func `plain polls at the usual interval are never limited`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      _ = try await service.code(client)
      for _ in 0..<360 {
        service.clock.pass(.seconds(5))
        let status = try await service.call(
          client, "GET", "/api/v1/tokens/authn?deviceId=box-1"
        ).status
        #expect(status == 404 || status == 410)
      }
    }
  }
}
