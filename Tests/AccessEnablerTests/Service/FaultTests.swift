import Glibc
import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Failures between a box and its service: each causes the documented callback, and no sign-in is lost.
@Suite("Faults of a service")
struct FaultTests {
  @Test func `a service that is killed and restarted while the viewer types the code loses nothing`()
    async throws
  {
    let live = try await LocalService()
    let enabler = try await live.enabler()
    let (codes, seen) = AsyncStream<String>.makeStream()
    let signIn = Task {
      try await enabler.authenticate(.onSecondScreen) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer.code) }
      }
    }
    let code = try await codes.next("a code")
    await live.kill()
    try await live.approve(code)
    try await live.startAgain()
    #expect(try await signIn.value("the sign-in").provider.id == "local")
    seen.finish()
    #expect(await codes.first { _ in true } == nil, "no second code")
  }

  /// Responses of a broken service, or of a proxy in front of it.
  static let brokenAnswers: [(String, @Sendable () -> Response)] = [
    ("500", { Response.text(.internalServerError, "oops") }),
    ("503", { Response.text(.serviceUnavailable, "later") }),
    ("HTML with 200", { html(.ok) }), ("HTML with 403", { html(.forbidden) }),
    ("HTML with 404", { html(.notFound) }), ("HTML with 302", { html(.found) }),
    ("nothing", { Response(.ok) }),
    ("half a document", { Response.text(.ok, #"{"requestor":"RE"#) }),
    ("another document", { Response.text(.ok, #"{"a":[1,2,3]}"#) }),
    ("ten megabytes", { Response(.ok, body: [UInt8](repeating: 0x20, count: 10 << 20)) }),
    ("not UTF-8", { Response(.ok, body: [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D]) }),
  ]

  private static func html(_ status: Status) -> Response {
    Response(status, type: "text/html", body: Array("<html>Welcome to our Wi-Fi</html>".utf8))
  }

  /// Replaces the service's responses while it is closed.
  private final class Gate: Sendable {
    private let state = Locked<(answer: (@Sendable () -> Response)?, count: Int)>((nil, 0))

    func answer() -> Response? {
      state.withLock { state in
        guard let answer = state.answer else { return nil }
        state.count += 1
        return answer()
      }
    }

    func close(_ answer: @escaping @Sendable () -> Response) {
      state.withLock { $0 = (answer, 0) }
    }

    func open() { state.withLock { $0.answer = nil } }

    var count: Int { state.withLock { $0.count } }
  }

  @Test func `a broken answer during a sign-in is retried until the service works again`() async throws {
    let gate = Gate()
    let live = try await LocalService(gate: { _ in gate.answer() })
    for (_, answer) in Self.brokenAnswers { try await waitOut(answer, gate, live) }
    await live.kill()
  }

  private func waitOut(
    _ answer: @escaping @Sendable () -> Response, _ gate: Gate, _ live: LocalService
  ) async throws {
    let enabler = try await live.enabler { $0.timing.wait = 1 }
    let (codes, seen) = AsyncStream<String>.makeStream()
    let signIn = Task {
      try await enabler.authenticate(.onSecondScreen) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer.code) }
      }
    }
    let code = try await codes.next("a code")
    gate.close(answer)
    try await eventually("the SDK asks again after the broken answer") { gate.count >= 2 }
    gate.open()
    try await live.approve(code)
    #expect(try await signIn.value("the sign-in").provider.id == "local")
  }

  @Test func `a broken answer ends every call with an error and signs no viewer out`() async throws {
    let gate = Gate()
    let live = try await LocalService(gate: { _ in gate.answer() })
    let enabler = try await live.enabler { $0.timing.silence = .milliseconds(300) }
    try await live.signIn(enabler)
    for (kind, answer) in Self.brokenAnswers {
      gate.close(answer)
      try await tryEverything(enabler, kind)
      gate.open()
      try await enabler.configure(requestor: Sample.requestor)
      #expect(try await enabler.authorize("news").resource == "news", "\(kind)")
    }
    await live.kill()
  }

  private func tryEverything(_ enabler: AccessEnabler, _ kind: String) async throws {
    await #expect(throws: EntitlementError.self) {
      try await enabler.configure(requestor: Sample.requestor)
    }
    #expect(await enabler.currentSignIn() != nil)
    await #expect {
      _ = try await enabler.authorize("news")
    } throws: { error in
      (error as? EntitlementError)?.area == .other
    }
    await #expect(throws: EntitlementError.self) { _ = try await enabler.preauthorize(["news"]) }
    await #expect(throws: EntitlementError.self) { _ = try await enabler.metadata(.user("zip")) }
    #expect(await enabler.currentSignIn() != nil, "\(kind)")
  }

  @Test func `a response of one byte a second fails at the deadline`() async throws {
    let slow = try SlowServer()
    defer { slow.stop() }
    var configuration = EnablerConfiguration(
      services: ["http://127.0.0.1:\(slow.port)"], storage: .memory)
    configuration.timing.configuration = .seconds(2)
    let enabler = try AccessEnabler(configuration)
    await #expect {
      try await enabler.configure(requestor: Sample.requestor)
    } throws: { error in
      (error as? EntitlementError)?.kind == .unreachable
    }
  }

  @Test func `a stopped service is reported as unreachable and works again after its start`() async throws {
    let live = try await LocalService()
    let enabler = try AccessEnabler(live.configuration())
    await live.kill()
    await #expect {
      try await enabler.configure(requestor: Sample.requestor)
    } throws: { error in
      (error as? EntitlementError)?.kind == .unreachable
    }
    try await live.startAgain()
    #expect(try await enabler.configure(requestor: Sample.requestor).count == 3)
    await live.kill()
  }

  @Test(arguments: [10, -10])
  func `a device clock that is ten years wrong is corrected from the service's time`(years: Int64) async throws {
    let live = try await LocalService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder) { configuration in
      configuration.wallClock = { Clocks.wallMilliseconds() + years * 31_557_600_000 }
    }
    try await live.signIn(enabler)
    #expect(await enabler.currentSignIn() != nil)
    #expect(try await enabler.authorize("news").resource == "news")
    try await recorder.wait(for: "status CFG100")
    try await recorder.wait(for: "setToken")
    #expect(recorder.lines.filter { $0.hasPrefix("status CFG100") }.count == 1)
    await live.kill()
  }

  @Test(arguments: [25, -60, 30 * 24 * 60] as [Int64])
  func `a code's lifetime follows the service's clock, whatever the device's clock says`(minutes: Int64) async throws {
    let live = try await LocalService()
    let enabler = try await live.enabler { configuration in
      configuration.wallClock = { Clocks.wallMilliseconds() + minutes * 60_000 }
    }
    let (offers, seen) = AsyncStream<RegistrationOffer>.makeStream()
    let signingIn = Task {
      try await enabler.authenticate(.provider(Sample.provider)) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer) }
      }
    }
    let offer = try #require(await offers.first { _ in true })
    signingIn.cancel()
    let left = offer.expires.since(enabler.time(of: offer.service))
    #expect(left > .seconds(29 * 60) && left <= .seconds(30 * 60 + 5))
    await live.kill()
  }

  @Test(arguments: [-4_000, -1_500, -300] as [Int64])
  func `a device clock a few seconds behind a freshly started service does not invalidate the calls' signatures`(
    milliseconds: Int64
  ) async throws {
    // The service refuses calls signed before its own start, because their nonces may have been used already.
    let live = try await LocalService()
    let enabler = try await live.enabler { configuration in
      configuration.wallClock = { Clocks.wallMilliseconds() + milliseconds }
    }
    try await live.signIn(enabler)
    #expect(try await enabler.authorize("news").resource == "news")
    await live.kill()
  }

  @Test func `setting the clock while the app runs does not end the sign-in`() async throws {
    let live = try await LocalService()
    let offset = Locked<Int64>(-1_700_000_000_000)
    let enabler = try await live.enabler { configuration in
      configuration.wallClock = { Clocks.wallMilliseconds() + offset.withLock { $0 } }
    }
    try await live.signIn(enabler)
    #expect(await enabler.currentSignIn() != nil)
    offset.withLock { $0 = 0 }
    #expect(await enabler.currentSignIn() != nil)
    offset.withLock { $0 = 1_000_000_000_000 }
    #expect(await enabler.currentSignIn() != nil)
    #expect(try await enabler.authorize("news").resource == "news")
    await live.kill()
  }

  @Test func `a store that cannot be written keeps the sign-in in memory and reports the failure`() async throws {
    let live = try await LocalService()
    try await withTemporaryFolder { folder in
      let state = "\(folder)/state"
      let recorder = Recorder()
      let enabler = try await live.enabler(.folder(state), delegate: recorder)
      // A folder in place of the lock file: every write fails, also for root.
      removeTree("\(state)/lock")
      #expect(unsafe mkdir("\(state)/lock", 0o700) == 0)
      let signIn = try await live.signIn(enabler)
      #expect(await enabler.currentSignIn() == signIn)
      try await recorder.wait(for: "status 500")
      #expect(unsafe rmdir("\(state)/lock") == 0)
      // The next change also writes what could not be written before.
      _ = try await enabler.authorize("news")
      await live.kill()
      let later = try AccessEnabler(live.configuration(.folder(state)))
      _ = try? await later.configure(requestor: Sample.requestor)
      #expect(await later.currentSignIn() == signIn)
    }
  }

  @Test func `a truncated token file is reported, and the service brings the sign-in back`() async throws {
    let live = try await LocalService()
    try await withTemporaryFolder { folder in
      let state = "\(folder)/state"
      let first = try await live.enabler(.folder(state))
      let signIn = try await live.signIn(first)
      let bytes = try readFile("\(state)/tokens")
      try writeFile("\(state)/tokens", bytes.prefix(bytes.count / 2))
      let recorder = Recorder()
      let second = try await live.enabler(.folder(state), delegate: recorder)
      #expect(recorder.lines.first?.hasPrefix("status SEC412") == true)
      #expect(await second.currentSignIn() == signIn)
    }
    await live.kill()
  }

  @Test func `two enablers on one store share the device id and the sign-in`() async throws {
    let live = try await LocalService()
    try await withTemporaryFolder { folder in
      let storage = TokenStorage.folder("\(folder)/state")
      let one = try await live.enabler(storage)
      let two = try await live.enabler(storage)
      #expect(one.deviceID == two.deviceID)
      let signIn = try await live.signIn(one)
      // The second enabler reads the sign-in from the store, without a request.
      #expect(await two.currentSignIn() == signIn)
      _ = try await two.authorize("news")
      _ = try await one.authorize("sports")
      #expect(try await one.metadata(.authorizationExpiry(resource: "news")).value != nil)
      #expect(try await two.metadata(.authorizationExpiry(resource: "sports")).value != nil)
    }
    await live.kill()
  }

  @Test func `releasing an enabler ends its event streams`() async throws {
    let live = try await LocalService()
    var enabler: AccessEnabler? = try await live.enabler()
    let events = try #require(enabler).events
    enabler?.getAuthentication()
    enabler = nil
    // The stream ends only if nothing keeps the enabler's task alive.
    try await awaiting("the end of the events") { for await _ in events {} }
    await live.kill()
  }
}

/// A server that sends one byte a second while the client is connected.
private final class SlowServer: Sendable {
  let port: UInt16
  private let socketNumber: Int32
  private let isStopped = Locked(false)

  init() throws {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(number, generic, length) == 0 && listen(number, 8) == 0
          && getsockname(number, generic, &length) == 0
      }
    }
    guard bound else { throw TestSupportError("no listener") }
    socketNumber = number
    port = UInt16(bigEndian: address.sin_port)
    startThread { [weak self] in
      while true {
        let client = accept(number, nil, nil)
        guard client >= 0 else { return }
        startThread { [weak self] in
          let text = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8)
          for byte in text {
            var byte = byte
            guard let self, !self.isStopped.withLock({ $0 }),
              unsafe send(client, &byte, 1, Int32(MSG_NOSIGNAL)) == 1
            else { break }
            pass(milliseconds: 1_000)
          }
          close(client)
        }
        if self == nil { return }
      }
    }
  }

  func stop() {
    isStopped.withLock { $0 = true }
    shutdown(socketNumber, Int32(SHUT_RDWR))
    close(socketNumber)
  }
}
