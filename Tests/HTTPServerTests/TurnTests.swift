import HTTPTestSupport
import RegentHTTPCodec
import RegentPlatform
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct TurnTests {
  @Test func `who waits is served in the order of coming, round by round`() {
    var order = TurnOrder()
    func expectNext(_ wanted: UInt64?) {
      let next = order.take()
      #expect(next == wanted)
    }
    expectNext(nil)
    for id: UInt64 in [3, 1, 2] { order.append(id) }
    expectNext(3)
    // Comes again while others wait.
    order.append(3)
    expectNext(1)
    expectNext(2)
    #expect(!order.isEmpty)
    expectNext(3)
    #expect(order.isEmpty)
    expectNext(nil)
  }

  @Test func `who was served in this round or the last comes soon, and nobody else`() {
    var order = TurnOrder()
    #expect(!order.comesSoon(0))
    let mark = order.mark
    #expect(order.comesSoon(mark))
    order.append(1)
    _ = order.take()
    #expect(order.comesSoon(mark))
    order.append(1)
    // Somebody waits still: the round goes on, however often the sockets are looked at.
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

  @Test func `who asks now and then goes before those who ask without a pause`() async throws {
    let blocking = BlockingHandler()
    let handler = ClosureHandler { request in
      .now(.text(.ok, blocking.pass(String(decoding: request.path, as: UTF8.self))))
    }
    // Over a Unix socket what was sent has arrived when the call returns.
    try await withUnixServer(handler) { address in
      let box = try WireConnection(address)
      let flood = try (0..<8).map { _ in try WireConnection(address) }
      let all = flood + [box]
      for connection in all {
        try connection.send(get("/first"))
        #expect(try connection.response().status == 200)
      }
      // All of the flood is served in one look, a look after the box, and the last of them holds the loop.
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

  @Test func `a body larger than what is read at once arrives whole, however it is cut`() async throws {
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

  @Test(arguments: [1, 40]) func `a client that left with its last words is not waited for`(count: Int) async throws {
    let parking = Parking()
    try await withServer(parking) { server, address in
      for _ in 0..<20 {
        let connection = try WireConnection(address)
        try connection.send(get("/now"))
        #expect(try connection.response().text == "now /now")
        try connection.send((1..<count).flatMap { _ in get("/now") } + get("/later"))
        connection.finishSending()
        try eventually("the connection's end") { server.statistics.open == 0 }
      }
      // The handler hears of it a moment after the connection is gone.
      try eventually("all twenty are abandoned") { parking.abandoned == 20 }
    }
  }
}

/// Lets requests pass in the order in which they come; those to `/shut/…` are held, with the loop that brought them.
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
      try eventually("\(path) is opened") { state.withLock { $0.opened.contains(path) } }
    } catch {
      return "\(error)"
    }
    return path
  }

  func await(_ path: String) throws {
    try eventually("\(path) is asked for") { state.withLock { $0.held.contains(path) } }
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
