import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

/// Deadlines here are short or absent; nothing is asserted about how long anything takes, only what comes of it.
@Suite struct DeadlineTests {
  @Test func `a silent client is cut off`() async throws {
    try await withServer(echo, { $0.deadlines.header = .milliseconds(80) }) { server, address in
      let connection = try WireConnection(address)
      #expect(try connection.rest().isEmpty)
      try eventually("the deadline") { server.statistics.timedOut == 1 }
    }
  }

  @Test func `a head that comes drop by drop is refused`() async throws {
    try await withServer(echo, { $0.deadlines.header = .milliseconds(150) }) { server, address in
      let connection = try WireConnection(address)
      try dripUntilRefused(connection, bytes("GET / HTTP/1.1\r\nHost: a\r\nX: "), server)
      #expect(try connection.response().status == 408)
      #expect(try connection.rest().isEmpty)
    }
  }

  @Test func `so is the head of a later request`() async throws {
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
  func `a body that comes drop by drop is refused`(framing: String) async throws {
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

  @Test func `a reply that does not come is a 503, and the handler is told`() async throws {
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

  @Test func `a client that does not read is cut off`() async throws {
    let large = [UInt8](repeating: 1, count: 20_000_000)
    let handler = ClosureHandler { _ in .now(Response(.ok, body: large)) }
    try await withServer(handler, { $0.deadlines.write = .milliseconds(100) }) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/"))
      try eventually("the deadline") { server.statistics.timedOut == 1 && server.statistics.open == 0 }
      #expect(try connection.rest().count < large.count)
    }
  }

  @Test func `an idle connection is closed, a busy one is not`() async throws {
    try await withServer(echo, { $0.deadlines.idle = .milliseconds(500) }) { server, address in
      // On a machine that stands still for so long the busy one is idle, too: then it is tried again.
      try eventually("a busy connection outlives an idle one") {
        try eventually("no open connection") { server.statistics.open == 0 }
        let idle = try WireConnection(address)
        let busy = try WireConnection(address)
        try idle.send(get("/"))
        _ = try idle.response()
        do {
          try eventually("the end of the idle one") {
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

  @Test func `a refused client that never stops sending is cut off`() async throws {
    try await withServer(echo, { $0.deadlines.lingering = .milliseconds(100) }) { server, address in
      let connection = try WireConnection(address)
      try connection.send(bytes("NONSENSE\r\n"))
      #expect(try connection.response().status == 501)
      try eventually("the connection is cut") {
        try? connection.send([0x61])
        return server.statistics.open == 0
      }
      let flood = try WireConnection(address)
      try flood.send(bytes("NONSENSE\r\n"))
      try eventually("the connection is cut") {
        try? flood.send([UInt8](repeating: 0x61, count: 100_000))
        return server.statistics.open == 0
      }
    }
  }
}
