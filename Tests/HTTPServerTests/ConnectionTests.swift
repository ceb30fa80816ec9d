import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

@Suite struct ConnectionTests {
  @Test func `one connection serves many requests`() async throws {
    try await withServer(echo) { server, address in
      let connection = try WireConnection(address)
      for round in 0..<50 {
        try connection.send(post("/\(round)", "body \(round)"))
        let response = try connection.response()
        #expect(response.text == "POST /\(round) body \(round)")
        #expect(response.header("connection") == nil)
        #expect(response.header("date")?.hasSuffix(" GMT") == true)
      }
      #expect(server.statistics.accepted == 1 && server.statistics.requests == 50)
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  ])
  func `the last request of a connection is answered and the connection is closed`(text: String) async throws {
    try await withServer(echo) { _, address in
      let connection = try WireConnection(address)
      try connection.send(bytes(text + "\r\n"))
      let response = try connection.response()
      #expect(response.text == "GET / ")
      #expect(response.header("connection") == "close")
      #expect(try connection.rest().isEmpty)
    }
  }

  @Test func `a reply to HEAD has the head of the reply to GET and no body`() async throws {
    try await withServer(echo) { _, address in
      let connection = try WireConnection(address)
      try connection.send(bytes("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n") + get("/after"))
      #expect(try connection.response(toHead: true).header("content-length") == "8")
      #expect(try connection.response().text == "GET /after ")
    }
  }

  @Test(arguments: [204, 304] as [UInt16])
  func `a reply whose status forbids a body has neither a body nor a length`(code: UInt16) async throws {
    let handler = ClosureHandler { _ in .now(Response(Status(code), body: [1, 2, 3])) }
    try await withServer(handler) { _, address in
      let connection = try WireConnection(address)
      try connection.send(get("/") + get("/", "Connection: close\r\n"))
      for _ in 0..<2 {
        let response = try connection.response()
        #expect(response.status == code && response.header("content-length") == nil)
      }
      #expect(try connection.rest().isEmpty)
    }
  }

  @Test func `the server sends 100 Continue only to a client that waits for it`() async throws {
    try await withServer(echo, { $0.bodyBytes = 100 }) { _, address in
      let waiting = try WireConnection(address)
      let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
      try waiting.send(bytes(head))
      #expect(try waiting.response().status == 100)
      try waiting.send(bytes("abc"))
      #expect(try waiting.response().text == "POST / abc")
      // The body arrives together with the head, so the server sends no 100 Continue.
      try waiting.send(bytes(head + "abc"))
      #expect(try waiting.response().text == "POST / abc")
      // The server refuses a body that is too large before the client sends it.
      try waiting.send(bytes(head.replacing("Length: 3", with: "Length: 101")))
      #expect(try waiting.response().status == 413)
      #expect(try waiting.rest().isEmpty)
    }
  }

  @Test(arguments: [1, 7, 100_000])
  func `a request body arrives complete, however the network splits it`(size: Int) async throws {
    let text = String(repeating: "0123456789", count: 300)
    let chunked =
      "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      + "BB8;ext=1\r\n\(text)\r\n0\r\nTrailer: x\r\n\r\n"
    try await withServer(echo) { _, address in
      let connection = try WireConnection(address)
      let all = post("/l", text) + bytes(chunked) + get("/end")
      var at = 0
      while at < all.count {
        try connection.send(Array(all[at..<min(all.count, at + size)]))
        at += size
      }
      #expect(try connection.response().text == "POST /l \(text)")
      #expect(try connection.response().text == "POST /c \(text)")
      #expect(try connection.response().text == "GET /end ")
    }
  }

  @Test func `a long pipeline is answered in order`() async throws {
    try await withServer(echo, { $0.pipelinedRequestsPerTurn = 3 }) { _, address in
      let connection = try WireConnection(address)
      try connection.send((0..<2000).flatMap { post("/\($0)", "b\($0)") })
      for number in 0..<2000 {
        #expect(try connection.response().text == "POST /\(number) b\(number)")
      }
    }
  }

  @Test func `a client that shuts down its sending side still gets its replies`() async throws {
    try await withServer(echo) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/a") + get("/b"))
      connection.finishSending()
      #expect(try connection.response().text == "GET /a ")
      #expect(try connection.response().text == "GET /b ")
      #expect(try connection.rest().isEmpty)
      try eventually("no open connection") { server.statistics.open == 0 }
    }
  }

  @Test func `a reply larger than every buffer arrives complete`() async throws {
    let large = [UInt8]((0..<9_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    let handler = ClosureHandler { _ in .now(Response(.ok, body: large)) }
    try await withServer(handler) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/1") + get("/2") + get("/3", "Connection: close\r\n"))
      // The loop serves another connection here, so all buffers are full: this client has read nothing.
      try eventually("the first request") { server.statistics.requests == 1 }
      let other = try WireConnection(address)
      try other.send(bytes("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"))
      #expect(try other.response(toHead: true).status == 200)
      for _ in 0..<3 { #expect(try connection.response().body == large) }
      #expect(try connection.rest().isEmpty)
    }
  }

  @Test func `the server stops handling a pipeline whose client reads no replies`() async throws {
    let large = [UInt8](repeating: 7, count: 1_000_000)
    let handler = ClosureHandler { _ in .now(Response(.ok, body: large)) }
    try await withServer(handler) { server, address in
      let connection = try WireConnection(address)
      try connection.send((0..<200).flatMap { get("/\($0)") })
      try eventually("the first request") { server.statistics.requests > 0 }
      // While the loop answers another client this often, it could have continued with the pipeline.
      let other = try WireConnection(address)
      for _ in 0..<50 {
        try other.send(bytes("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(try other.response(toHead: true).status == 200)
      }
      // The socket buffers hold some replies. The other requests wait until those are read.
      #expect(server.statistics.requests < 50 + 30)
      for _ in 0..<200 { #expect(try connection.response().body.count == large.count) }
    }
  }

  @Test func `the client of a refused upload receives the refusal`() async throws {
    try await withServer(echo, { $0.bodyBytes = 1000 }) { server, address in
      let connection = try WireConnection(address)
      let upload = String(repeating: "x", count: 400_000)
      try connection.send(post("/", upload))
      #expect(try connection.response().status == 413)
      #expect(try connection.rest().isEmpty)
      #expect(server.statistics.refused == 1 && server.statistics.requests == 0)
    }
  }

  @Test func `a TRACE request never reaches a handler`() async throws {
    let recording = try RecordingServer()
    let outcome = await offPool {
      Result<TestResponse, any Error> {
        defer { recording.stop() }
        let connection = try WireConnection(recording.address)
        try connection.send(bytes("TRACE / HTTP/1.1\r\nHost: a\r\nCookie: secret\r\n\r\n"))
        defer { #expect((try? connection.rest()) == []) }
        return try connection.response()
      }
    }
    let response = try outcome.get()
    #expect(response.status == 405 && response.header("allow")?.contains("GET") == true)
    #expect(!response.text.contains("secret"))
    #expect(recording.seen.isEmpty)
  }

  @Test func `a header value with a line break turns the reply into a 500`() async throws {
    let handler = ClosureHandler { request in
      var response = Response.text(.ok, "fine")
      let name = request.path == bytes("/own") ? HeaderName.contentLength : HeaderName.location
      response.addHeader(name, request.path == bytes("/own") ? "1" : "x\r\nSet-Cookie: a=b")
      return .now(response)
    }
    try await withServer(handler) { server, address in
      let connection = try WireConnection(address)
      try connection.send(get("/split") + get("/own"))
      for _ in 0..<2 {
        let response = try connection.response()
        #expect(response.status == 500 && response.headers("set-cookie").isEmpty)
      }
      #expect(server.statistics.faulty == 2)
    }
  }

  @Test func `a prepared reply is sent like a newly made one`() async throws {
    var made = Response.text(.notFound, "gone")
    made.addHeader(.cacheControl, "no-store")
    let (fresh, prepared) = (made, PreparedResponse(made))
    let handler = ClosureHandler { request in
      .now(request.path == bytes("/fresh") ? fresh : Response(prepared))
    }
    try await withServer(handler) { _, address in
      let connection = try WireConnection(address)
      try connection.send(get("/fresh") + get("/prepared"))
      let (one, other) = (try connection.response(), try connection.response())
      #expect(one.status == 404 && other.status == 404 && one.text == other.text)
      #expect(one.headers.map { "\($0)" } == other.headers.map { "\($0)" })
    }
  }
}
