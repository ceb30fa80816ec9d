import HTTPTestSupport
import RegentHTTPCodec
import RegentPlatform
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct TurnTests {
  @Test func `waiting connections are served in order of arrival, round by round`() {
    var order = TurnOrder()
    func expectNext(_ wanted: UInt64?) {
      let next = order.take()
      #expect(next == wanted)
    }
    expectNext(nil)
    for id: UInt64 in [3, 1, 2] { order.append(id) }
    expectNext(3)
    // Waits again while others are still waiting.
    order.append(3)
    expectNext(1)
    expectNext(2)
    #expect(!order.isEmpty)
    expectNext(3)
    #expect(order.isEmpty)
    expectNext(nil)
  }

  @Test func `only a connection that was served in this or the last round counts as busy`() {
    var order = TurnOrder()
    #expect(!order.comesSoon(0))
    let mark = order.mark
    #expect(order.comesSoon(mark))
    order.append(1)
    _ = order.take()
    #expect(order.comesSoon(mark))
    order.append(1)
    // As long as a connection waits, the round goes on, however often the sockets are polled.
    for _ in 0..<5 {
      let somebodyWaits = order.endLook()
      #expect(somebodyWaits)
    }
    #expect(order.comesSoon(mark))
    _ = order.take()
    #expect(!order.comesSoon(mark))
    let later = order.mark
    for _ in 0..<2 {
      let somebodyWaits = order.endLook()
      #expect(!somebodyWaits)
    }
    #expect(!order.comesSoon(later))
  }

  @Test func `an occasional client is served before clients that send without a pause`() async throws {
    let blocking = BlockingHandler()
    let handler = ClosureHandler { request in
      .now(.text(.ok, blocking.pass(String(decoding: request.path, as: UTF8.self))))
    }
    // Over a Unix socket, sent bytes have arrived when the call returns.
    try await withUnixServer(handler) { address in
      let box = try WireConnection(address)
      let flood = try (0..<8).map { _ in try WireConnection(address) }
      let all = flood + [box]
      for connection in all {
        try connection.send(get("/first"))
        #expect(try connection.response().status == 200)
      }
      // The whole flood is served in one poll, after the box's request, and its last request blocks the loop.
      try box.send(get("/shut/1"))
      try blocking.await("/shut/1")
      for (number, connection) in flood.enumerated() {
        try connection.send(get(number == flood.count - 1 ? "/shut/2" : "/flood"))
      }
      blocking.open("/shut/1")
      try blocking.await("/shut/2")
      #expect(try box.response().status == 200)
      let before = blocking.passed.count
      for connection in flood { try connection.send(get("/again")) }
      try box.send(get("/box"))
      blocking.open("/shut/2")
      for connection in flood { for _ in 0..<2 { #expect(try connection.response().status == 200) } }
      #expect(try box.response().status == 200)
      #expect(blocking.passed[before...].first == "/box")
      #expect(blocking.passed[before...].count == flood.count + 1)
    }
  }

  @Test func `a body larger than one read arrives complete, however the network splits it`() async throws {
    let text = String(repeating: "abcdefgh", count: 25_000)
    try await withServer(echo) { _, address in
      let connection = try WireConnection(address)
      for _ in 0..<20 {
        try connection.send(post("/large", text) + get("/small"))
        #expect(try connection.response().text == "POST /large \(text)")
        #expect(try connection.response().text == "GET /small ")
      }
    }
  }

  @Test(arguments: [1, 40]) func `a client that disconnects right after its last request is not waited for`(count: Int)
    async throws
  {
    let parking = Parking()
    try await withServer(parking) { server, address in
      for _ in 0..<20 {
        let connection = try WireConnection(address)
        try connection.send(get("/now"))
        #expect(try connection.response().text == "now /now")
        try connection.send((1..<count).flatMap { _ in get("/now") } + get("/later"))
        connection.finishSending()
        try eventually("the connection to be closed") { server.statistics.open == 0 }
      }
      // The handler is told a moment after the connection is closed.
      try eventually("all twenty replies to be abandoned") { parking.abandoned == 20 }
    }
  }
}

/// Records the order of requests.
///
/// Requests to `/shut/…` block the loop until the test opens them.
private final class BlockingHandler: Sendable {
  private struct State {
    var passed: [String] = []
    var held: Set<String> = []
    var opened: Set<String> = []
  }

  private let state = Locked(State())

  func pass(_ path: String) -> String {
    guard path.hasPrefix("/shut/") else {
      state.withLock { $0.passed.append(path) }
      return path
    }
    state.withLock { _ = $0.held.insert(path) }
    do {
      try eventually("\(path) to be opened") { state.withLock { $0.opened.contains(path) } }
    } catch {
      return "\(error)"
    }
    return path
  }

  func await(_ path: String) throws {
    try eventually("a request for \(path)") { state.withLock { $0.held.contains(path) } }
  }

  func open(_ path: String) { state.withLock { _ = $0.opened.insert(path) } }

  var passed: [String] { state.withLock { $0.passed } }
}

private func withUnixServer(
  _ handler: some Handler, _ body: @escaping @Sendable (ListenAddress) throws -> Void
) async throws {
  var configuration = ServerConfiguration()
  configuration.loops = 1
  let settings = configuration
  let outcome = await offPool {
    Result<Void, any Error> {
      try withTemporaryFolder { folder in
        let address = ListenAddress.local(path: "\(folder)/s", mode: 0o600, group: nil)
        let server = try Server([Listener(address, handler: handler)], configuration: settings)
        defer { server.stop() }
        try body(address)
      }
    }
  }
  try outcome.get()
}
