import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

/// One address that sends one good request on each connection, and then fills the memory.
@Suite struct HeldBytesTests {
  /// What the attacker leaves unfinished after a good request.
  static let unfinished: [[UInt8]] = [
    bytes("GET / HTTP/1.1\r\nHost: a\r\nX: "),
    bytes("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\na"),
    bytes("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n30000\r\na"),
  ]

  @Test(arguments: unfinished)
  func `what is unfinished counts for its address again`(request: [UInt8]) async throws {
    try await withServer(echo, { $0.unprovenConnectionsPerSource = 3 }) { server, address in
      let honest = try proven(address)
      let (late, later) = (try proven(address), try proven(address))
      var held = try (0..<3).map { _ in try proven(address) }
      for connection in held { try connection.send(request) }
      try turnLoop(honest)
      try late.send(request)
      #expect(try late.response().status == 503)
      #expect(server.statistics.shed == 1)
      // Whose requests are whole is served however many others hold, and what is given up is free again.
      try honest.send(get("/honest"))
      #expect(try honest.response().text == "GET /honest ")
      held.removeLast()
      try eventually("the end of two") { server.statistics.open == 4 }
      try later.send(request)
      try turnLoop(honest)
      #expect(server.statistics.shed == 1 && server.statistics.open == 4 && held.count == 2)
    }
  }

  @Test func `a source may have half of what may be buffered, and another is served meanwhile`() async throws {
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
      try eventually("a connection over the share") {
        let connection = try proven(address)
        try connection.send(bytes("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n") + body)
        kept.append(connection)
        return server.statistics.shed > 0
      }
      // Twice a body's bytes at most, because of how arrays grow.
      #expect((2...10).contains(kept.count), "\(kept.count)")
      // The same address with a small form in two pieces, and another address with a large body.
      let small = try proven(address)
      try small.send(bytes("POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nname"))
      try turnLoop(honest)
      try small.send(bytes("=anna"))
      #expect(try small.response().text == "POST /form name=anna")
      // What is given up is free again.
      kept = []
      try eventually("room") {
        let again = try proven(address)
        try again.send(bytes("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n") + body + body)
        return try again.response().status == 200
      }
    }
  }

  @Test func `readers that never read count, and are closed beyond the share`() async throws {
    let large = [UInt8](repeating: 0x61, count: 20_000_000)
    let shared = PreparedResponse(Response(.ok, body: large))
    let handler = ClosureHandler { $0.path == bytes("/large") ? .now(Response(shared)) : .now(.text(.ok, "small")) }
    try await withServer(handler, { $0.bufferedBytes = 640 * 1024 }) { server, address in
      let other = try proven(address)
      var readers: [WireConnection] = []
      try eventually("a reader over the share") {
        let reader = try proven(address)
        try reader.send(get("/large"))
        readers.append(reader)
        try turnLoop(other)
        return server.statistics.shed > 0
      }
      // 60 KiB of the kernel each, and half of 640 KiB for one address.
      #expect(readers.count == 6)
      try other.send(get("/"))
      #expect(try other.response().text == "small")
    }
  }

  @Test func `a request that is being answered counts, and no more when it was`() async throws {
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
