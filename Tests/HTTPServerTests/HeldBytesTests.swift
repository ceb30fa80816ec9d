import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

/// An attacker at one address sends one valid request on each connection and then tries to fill the server's memory.
@Suite struct HeldBytesTests {
  /// The unfinished requests that the attacker sends after a valid one.
  static let unfinished: [[UInt8]] = [
    bytes("GET / HTTP/1.1\r\nHost: a\r\nX: "),
    bytes("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\na"),
    bytes("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n30000\r\na"),
  ]

  @Test(arguments: unfinished)
  func `a connection with an unfinished request counts towards its address's limit again`(request: [UInt8]) async throws
  {
    try await withServer(echo, { $0.unprovenConnectionsPerSource = 3 }) { server, address in
      let honest = try proven(address)
      let (late, later) = (try proven(address), try proven(address))
      var held = try (0..<3).map { _ in try proven(address) }
      for connection in held { try connection.send(request) }
      try turnLoop(honest)
      try late.send(request)
      #expect(try late.response().status == 503)
      #expect(server.statistics.shed == 1)
      // Complete requests are served however many others are unfinished, and closing a connection frees its place.
      try honest.send(get("/honest"))
      #expect(try honest.response().text == "GET /honest ")
      held.removeLast()
      try eventually("two connections to be closed") { server.statistics.open == 4 }
      try later.send(request)
      try turnLoop(honest)
      #expect(server.statistics.shed == 1 && server.statistics.open == 4 && held.count == 2)
    }
  }

  @Test func `one address may use half of the buffer memory, and others are served meanwhile`() async throws {
    try await withServer(
      echo,
      {
        $0.bufferedBytes = 1_000_000
        $0.unprovenConnectionsPerSource = 100
      }
    ) { server, address in
      let body = [UInt8](repeating: 0x61, count: 100_000)
      let honest = try proven(address)
      var kept: [WireConnection] = []
      try eventually("a connection to exceed the share") {
        let connection = try proven(address)
        try connection.send(bytes("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n") + body)
        kept.append(connection)
        return server.statistics.shed > 0
      }
      // An array may reserve up to twice the bytes of the body.
      #expect((2...10).contains(kept.count), "\(kept.count)")
      // The same address still gets a small form in two pieces through.
      let small = try proven(address)
      try small.send(bytes("POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nname"))
      try turnLoop(honest)
      try small.send(bytes("=anna"))
      #expect(try small.response().text == "POST /form name=anna")
      // Closing the connections frees their memory.
      kept = []
      try eventually("free memory") {
        let again = try proven(address)
        try again.send(bytes("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n") + body + body)
        return try again.response().status == 200
      }
    }
  }

  @Test func `unread replies count as buffered bytes, and connections beyond their address's share are closed`()
    async throws
  {
    let large = [UInt8](repeating: 0x61, count: 20_000_000)
    let shared = PreparedResponse(Response(.ok, body: large))
    let handler = ClosureHandler { $0.path == bytes("/large") ? .now(Response(shared)) : .now(.text(.ok, "small")) }
    try await withServer(handler, { $0.bufferedBytes = 640 * 1024 }) { server, address in
      let other = try proven(address)
      var readers: [WireConnection] = []
      try eventually("a client to exceed the share") {
        let reader = try proven(address)
        try reader.send(get("/large"))
        readers.append(reader)
        try turnLoop(other)
        return server.statistics.shed > 0
      }
      // The kernel buffers 60 KiB for each, and one address may have half of 640 KiB.
      #expect(readers.count == 6)
      try other.send(get("/"))
      #expect(try other.response().text == "small")
    }
  }

  @Test func `the body of a request counts until the request is answered`() async throws {
    let parking = Parking()
    try await withServer(parking, { $0.bufferedBytes = 600_000 }) { server, address in
      let body = String(repeating: "a", count: 200_000)
      let first = try proven(address)
      try first.send(post("/later/1", body))
      let reply = try parking.take("/later/1")
      let second = try proven(address)
      try second.send(post("/later/2", body))
      #expect(try second.response().status == 503)
      reply.complete(.text(.ok, "one"))
      #expect(try first.response().text == "one")
      let third = try proven(address)
      try third.send(post("/later/3", body))
      try parking.take("/later/3").complete(.text(.ok, "three"))
      #expect(try third.response().text == "three")
    }
  }

  private func proven(_ address: ListenAddress) throws -> WireConnection {
    let connection = try WireConnection(address)
    try connection.send(get("/"))
    guard try connection.response().status == 200 else { throw WireError("turned away") }
    return connection
  }
}
