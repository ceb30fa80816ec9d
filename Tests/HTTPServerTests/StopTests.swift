import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

@Suite struct StopTests {
  @Test func `stopping finishes the requests in progress and closes idle connections`() async throws {
    let parking = Parking()
    try await withServer(parking) { server, address in
      let idle = try WireConnection(address)
      try idle.send(get("/"))
      _ = try idle.response()
      let waiting = try WireConnection(address)
      try waiting.send(get("/later/1"))
      let reply = try parking.take("/later/1")
      let half = try WireConnection(address)
      let request = post("/half", "body")
      try half.send(Array(request.dropLast(2)))
      try eventually("three connections to be open") { server.statistics.open == 3 }
      // After this the loop has read the half request.
      try turnLoop(idle)

      startThread { server.stop(within: .seconds(8)) }
      #expect(try idle.rest().isEmpty)
      try eventually("the server to refuse new connections") { (try? WireConnection(address)) == nil }
      reply.complete(.text(.ok, "finished"))
      let last = try waiting.response()
      #expect(last.text == "finished" && last.header("connection") == "close")
      #expect(try waiting.rest().isEmpty)
      try half.send(Array(request.suffix(2)))
      #expect(try half.response().text == "now /half")
      #expect(try half.rest().isEmpty)
    }
  }

  @Test func `stopping cuts off requests that do not finish in time and tells their handlers`() async throws {
    let parking = Parking()
    try await withServer(parking) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/later/never"))
      let reply = try parking.take("/later/never")
      server.stop(within: .milliseconds(50))
      #expect(try connection.rest().isEmpty)
      #expect(parking.abandoned == 1)
      #expect(!reply.complete(.text(.ok, "late")))
      server.stop()
    }
  }

  @Test func `a blocked loop does not answer the watchdog`() async throws {
    let stuck = Turnstile()
    let handler = ClosureHandler { request in
      // Blocks the loop, which a handler must never do.
      if request.path == Array("/block".utf8) { stuck.block() }
      return .now(.text(.ok, "done"))
    }
    try await withServer(handler) { server, address in
      #expect(server.answersPulse())
      try eventually("the loop to answer") { server.answersPulse() }
      let connection = try WireConnection(address)
      try connection.send(get("/block"))
      try eventually("the loop to be blocked") { stuck.isBlocking }
      _ = server.answersPulse()
      #expect(!server.answersPulse())
      stuck.letGo()
      _ = try connection.response()
      try eventually("the loop to answer") { server.answersPulse() }
    }
  }

  @Test func `the port of a stopped server can be used again at once`() async throws {
    let outcome = await offPool {
      Result<Void, any Error> {
        // An address that no other test uses. Otherwise another test might get the port in between.
        let address = try #require(ListenAddress("127.0.0.77:0"))
        let first = try Server([Listener(address, handler: echo)])
        let taken = first.addresses[0]
        let connection = try WireConnection(taken)
        try connection.send(get("/"))
        _ = try connection.response()
        first.stop()
        for _ in 0..<5 {
          let next = try Server([Listener(taken, handler: echo)])
          let again = try WireConnection(taken)
          try again.send(get("/again"))
          #expect(try again.response().text == "GET /again ")
          next.stop()
        }
      }
    }
    try outcome.get()
  }
}
