import Glibc
import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPlatform
import TestSupport
import Testing

@Suite struct LaterReplyTests {
  @Test func `replies of one connection keep the order of the requests`() async throws {
    let parking = Parking()
    try await withServer(parking) { _, address in
      let connection = try WireConnection(address)
      try connection.send(get("/later/1") + get("/a") + get("/later/2") + get("/b"))
      // The second request waits for the first, so that it sees what the first one changed.
      try parking.take("/later/1").complete(.text(.ok, "one"))
      #expect(try connection.response().text == "one")
      #expect(try connection.response().text == "now /a")
      try parking.take("/later/2").complete(.text(.ok, "two"))
      #expect(try connection.response().text == "two")
      #expect(try connection.response().text == "now /b")
    }
  }

  @Test func `requests that arrive while a reply is pending wait in the socket`() async throws {
    let parking = Parking()
    try await withServer(parking) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/later/1"))
      let reply = try parking.take("/later/1")
      try connection.send(get("/a"))
      try connection.send(get("/b"))
      // Wait until the only loop has served another connection, so it has had a chance to read these requests.
      try turnLoop(address)
      #expect(server.statistics.requests == 1 + turns)
      reply.complete(.text(.ok, "one"))
      for text in ["one", "now /a", "now /b"] { #expect(try connection.response().text == text) }
    }
  }

  @Test func `a handler may complete a pending reply at once`() async throws {
    let handler = ClosureHandler { _ in .later { $0.complete(.text(.ok, "at once")) } }
    try await withServer(handler) { _, address in
      let connection = try WireConnection(address)
      try connection.send((0..<100).flatMap { get("/\($0)") })
      for _ in 0..<100 { #expect(try connection.response().text == "at once") }
    }
  }

  @Test func `a handler is told that its client has disconnected, and its reply is dropped`() async throws {
    let parking = Parking()
    try await withServer(parking) { server, address in
      var connection: WireConnection? = try WireConnection(address)
      try connection?.send(get("/later/1"))
      let reply = try parking.take("/later/1")
      #expect(!reply.isAbandoned)
      connection = nil
      try eventually("the handler to be told") { parking.abandoned == 1 }
      #expect(reply.isAbandoned)
      #expect(!reply.complete(.text(.ok, "too late")))
      #expect(server.statistics.abandoned == 1 && server.statistics.open == 0)
      // A callback that is registered too late runs at once.
      let told = Locked(false)
      reply.onAbandoned { told.withLock { $0 = true } }
      #expect(told.withLock { $0 })
    }
  }

  @Test func `a reply for a disconnected client never reaches the next client`() async throws {
    let parking = Parking()
    try await withServer(parking) { _, address in
      for _ in 0..<50 {
        var gone: WireConnection? = try WireConnection(address)
        try gone?.send(get("/later/old"))
        let old = try parking.take("/later/old")
        gone = nil
        // The next connection probably gets the same slot and file descriptor.
        let next = try WireConnection(address)
        try next.send(get("/later/new"))
        let new = try parking.take("/later/new")
        old.complete(.text(.ok, "old"))
        new.complete(.text(.ok, "new"))
        #expect(try next.response().text == "new")
      }
    }
  }

  @Test func `a forgotten reply becomes a 500, and a second reply is ignored`() async throws {
    let handler = ClosureHandler { request in
      .later { reply in
        guard request.path != bytes("/forgotten") else { return }
        #expect(reply.complete(.text(.ok, "first")))
        #expect(!reply.complete(.text(.ok, "second")))
      }
    }
    try await withServer(handler) { _, address in
      let connection = try WireConnection(address)
      try connection.send(get("/forgotten") + get("/twice") + get("/forgotten"))
      #expect(try connection.response().status == 500)
      #expect(try connection.response().text == "first")
      #expect(try connection.response().status == 500)
    }
  }

  @Test func `replies completed by many threads reach the right clients`() async throws {
    let handler = ClosureHandler { request in
      .later { reply in
        let path = String(decoding: request.path, as: UTF8.self)
        startThread {
          if path.hasSuffix("7") { sched_yield() }
          reply.complete(.text(.ok, path))
        }
      }
    }
    try await withServer(handler, { $0.loops = 3 }) { server, address in
      let connections = try (0..<24).map { _ in try WireConnection(address) }
      for round in 0..<40 {
        for (index, connection) in connections.enumerated() {
          try connection.send(get("/\(index)/\(round)"))
        }
        for (index, connection) in connections.enumerated() {
          #expect(try connection.response().text == "/\(index)/\(round)")
        }
      }
      #expect(server.statistics.requests == 24 * 40)
    }
  }

  @Test func `a request stays valid after later requests of its connection`() async throws {
    let kept = Locked<[Request]>([])
    let handler = ClosureHandler { request in
      kept.withLock { $0.append(request) }
      return .now(.text(.ok, "kept"))
    }
    try await withServer(handler) { _, address in
      let connection = try WireConnection(address)
      for number in 0..<20 {
        try connection.send(post("/\(number)", "body \(number)", "X: \(number)\r\n"))
        _ = try connection.response()
      }
      let requests = kept.withLock { $0 }
      for (number, request) in requests.enumerated() {
        #expect(request.path == bytes("/\(number)") && request.body == bytes("body \(number)"))
        #expect(HeaderName("x").flatMap(request.header) == "\(number)")
      }
      #expect(requests.count == 20)
    }
  }
}
