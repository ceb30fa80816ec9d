import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

/// Deadlines are short here or absent.
///
/// The tests check what happens and not how long it takes.
@Suite struct DeadlineTests {
  @Test func `a client that sends nothing is disconnected`() async throws {
    try await withServer(echo, { $0.deadlines.header = .milliseconds(80) }) { server, address in
      let connection = try WireConnection(address)
      #expect(try connection.rest().isEmpty)
      try eventually("the deadline") { server.statistics.timedOut == 1 }
    }
  }

  @Test func `a request head that arrives too slowly is refused`() async throws {
    try await withServer(echo, { $0.deadlines.header = .milliseconds(150) }) { server, address in
      let connection = try WireConnection(address)
      try dripUntilRefused(connection, bytes("GET / HTTP/1.1\r\nHost: a\r\nX: "), server)
      #expect(try connection.response().status == 408)
      #expect(try connection.rest().isEmpty)
    }
  }

  @Test func `a slow head of a later request is refused as well`() async throws {
    try await withServer(echo, { $0.deadlines.header = .milliseconds(150) }) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/"))
      #expect(try connection.response().status == 200)
      try dripUntilRefused(connection, bytes("GET / HTTP/1.1\r\nHost: a\r\nX: "), server)
      #expect(try connection.response().status == 408)
    }
  }

  @Test(arguments: [
    "Content-Length: 200000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n30000\r\n",
  ])
  func `a request body that arrives too slowly is refused`(framing: String) async throws {
    try await withServer(echo, { $0.deadlines.body = .milliseconds(150) }) { server, address in
      let connection = try WireConnection(address)
      try dripUntilRefused(connection, bytes("POST / HTTP/1.1\r\nHost: a\r\n\(framing)"), server)
      #expect(try connection.response().status == 408)
      #expect(server.statistics.requests == 0)
    }
  }

  private func dripUntilRefused(
    _ connection: WireConnection, _ start: [UInt8], _ server: Server
  ) throws {
    try connection.send(start)
    try eventually("the deadline") {
      try? connection.send([0x61])
      return server.statistics.timedOut == 1
    }
  }

  @Test func `a reply that takes too long becomes a 503, and the handler is told`() async throws {
    let parking = Parking()
    try await withServer(parking, { $0.deadlines.reply = .milliseconds(80) }) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/later/never"))
      let reply = try parking.take("/later/never")
      #expect(try connection.response().status == 503)
      #expect(try connection.rest().isEmpty)
      #expect(parking.abandoned == 1 && !reply.complete(.text(.ok, "late")))
      #expect(server.statistics.timedOut == 1)
    }
  }

  @Test func `a client that does not read its reply is disconnected`() async throws {
    let large = [UInt8](repeating: 1, count: 20_000_000)
    let handler = ClosureHandler { _ in .now(Response(.ok, body: large)) }
    try await withServer(handler, { $0.deadlines.write = .milliseconds(100) }) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/"))
      try eventually("the deadline") { server.statistics.timedOut == 1 && server.statistics.open == 0 }
      #expect(try connection.rest().count < large.count)
    }
  }

  @Test func `an idle connection is closed, and a busy one is not`() async throws {
    try await withServer(echo, { $0.deadlines.idle = .milliseconds(500) }) { server, address in
      // A machine that stalls for half a second makes the busy connection idle, too. Then the test tries again.
      try eventually("a busy connection to outlive an idle one") {
        try eventually("no connection to be open") { server.statistics.open == 0 }
        let idle = try WireConnection(address)
        let busy = try WireConnection(address)
        try idle.send(get("/"))
        _ = try idle.response()
        do {
          try eventually("the idle connection to be closed") {
            try busy.send(get("/"))
            _ = try busy.response()
            return server.statistics.open == 1
          }
          try busy.send(get("/"))
          _ = try busy.response()
        } catch is WireError {
          return false
        }
        #expect(try idle.rest().isEmpty)
        #expect(try busy.rest().isEmpty)
        return true
      }
      #expect(server.statistics.timedOut == 0)
    }
  }

  @Test func `a refused client that never stops sending is disconnected`() async throws {
    try await withServer(echo, { $0.deadlines.lingering = .milliseconds(100) }) { server, address in
      let connection = try WireConnection(address)
      try connection.send(bytes("NONSENSE\r\n"))
      #expect(try connection.response().status == 501)
      try eventually("the connection to be closed") {
        try? connection.send([0x61])
        return server.statistics.open == 0
      }
      let flood = try WireConnection(address)
      try flood.send(bytes("NONSENSE\r\n"))
      try eventually("the connection to be closed") {
        try? flood.send([UInt8](repeating: 0x61, count: 100_000))
        return server.statistics.open == 0
      }
    }
  }
}
