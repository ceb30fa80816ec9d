import RegentHTTPCodec
import HTTPTestSupport
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct LimitTests {
  @Test func `connections over the limit get a 503, and the others are served`() async throws {
    let parking = Parking()
    try await withServer(parking, { $0.connections = 3 }) { server, address in
      var connections = try (0..<3).map { _ in try WireConnection(address) }
      for connection in connections { try connection.send(get("/later")) }
      let replies = try connections.map { _ in try parking.take("/later") }
      let fourth = try WireConnection(address)
      #expect(try fourth.response().status == 503)
      #expect(try fourth.rest().isEmpty)
      #expect(server.statistics.shed == 1 && server.statistics.evicted == 0)
      connections.removeLast()
      try eventually("two connections to be open") { server.statistics.open == 2 }
      let fifth = try WireConnection(address)
      try fifth.send(get("/five"))
      #expect(try fifth.response().text == "now /five")
      #expect(replies.count == 3)
    }
  }

  @Test func `idle connections are closed to make room for new ones, and busy ones are not`() async throws {
    let parking = Parking()
    try await withServer(parking, { $0.connections = 4 }) { server, address in
      let busy = try WireConnection(address)
      try busy.send(get("/later"))
      let reply = try parking.take("/later")
      let idle = try (0..<3).map { _ in
        let connection = try WireConnection(address)
        try connection.send(get("/"))
        _ = try connection.response()
        return connection
      }
      // A client that holds idle connections open delays another client by one attempt at most.
      for round in 0..<8 {
        let text: String = try eventually("a free place") {
          let next = try WireConnection(address)
          try next.send(get("/\(round)"))
          let response = try next.response()
          return response.status == 200 ? response.text : nil
        }
        #expect(text == "now /\(round)")
      }
      try eventually("an idle connection to be closed") { server.statistics.evicted > 0 }
      reply.complete(.text(.ok, "kept"))
      #expect(try busy.response().text == "kept" && idle.count == 3)
    }
  }

  @Test func `a body that is too long is refused in the format of its path`() async throws {
    let json = Response(.contentTooLarge, type: "application/json", body: Array("{}".utf8))
    try await withServer(
      echo,
      {
        $0.bodyBytes = 10
        $0.refusalAtPath = { status, path in
          status == .contentTooLarge && path == Array("/json/x".utf8) ? json : nil
        }
      }
    ) { _, address in
      for (path, framing) in [
        ("/json/x?y=1", "Content-Length: 11\r\n\r\n"),
        ("/json/x", "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n"),
        ("/other", "Content-Length: 11\r\n\r\n"),
      ] {
        let connection = try WireConnection(address)
        try connection.send(Array("POST \(path) HTTP/1.1\r\nHost: x\r\n\(framing)".utf8))
        let answer = try connection.response()
        #expect(answer.status == 413)
        #expect((answer.header("content-type") == "application/json") == path.hasPrefix("/json"))
        #expect(answer.header("connection") == "close")
      }
      // A malformed request has no path.
      let connection = try WireConnection(address)
      try connection.send(Array("POST /json/x HTTP/1.1\r\nHost: x\r\nContent-Length: y\r\n\r\n".utf8))
      #expect(try connection.response().status == 400)
    }
  }

  @Test func `a connection counts towards its address's limit until it has sent a valid request`() async throws {
    try await withServer(echo, { $0.unprovenConnectionsPerSource = 2 }) { server, address in
      // Connections that completed a request do not count, as with many clients behind one address.
      let proven = try (0..<10).map { _ in
        let connection = try WireConnection(address)
        try connection.send(get("/"))
        _ = try connection.response()
        return connection
      }
      var silent: [WireConnection] = try (0..<2).map { _ in try WireConnection(address) }
      try eventually("twelve connections to be open") { server.statistics.open == 12 }
      #expect(try WireConnection(address).response().status == 503)
      // A malformed request does not lift the limit.
      try silent[0].send(bytes("NONSENSE\r\n"))
      #expect(try silent[0].response().status == 501)
      silent.removeAll()
      try eventually("ten connections to be open") { server.statistics.open == 10 }
      let next = try WireConnection(address)
      try next.send(get("/"))
      #expect(try next.response().status == 200)
      #expect(proven.count == 10)
    }
  }

  @Test func `the networks of one IPv6 subscriber have four times the limit of one`() {
    var configuration = ServerConfiguration()
    configuration.unprovenConnectionsPerSource = 2
    configuration.bufferedBytes = 1_000
    let limiter = SourceLimiter(configuration)
    func source(_ subscriber: UInt64, _ network: UInt64) -> CountedSource {
      .address(IPAddress(high: 0x2001_0db8_0000_0000 | subscriber << 16 | network, low: 0))
    }
    let admitted = (0..<20).filter { limiter.admit(source(1, UInt64($0))) }
    #expect(admitted.count == 8)
    #expect(limiter.admit(source(2, 0)) && limiter.admit(source(2, 0)) && !limiter.admit(source(2, 0)))
    // An end of one connection makes room for one.
    limiter.release(source(1, 3))
    #expect(limiter.admit(source(1, 99)) && !limiter.admit(source(1, 100)))
    for number in admitted where number != 3 { limiter.release(source(1, UInt64(number))) }
    limiter.release(source(1, 99))
    #expect((0..<20).filter { limiter.admit(source(1, UInt64($0))) }.count == 8)
    // All its networks together buffer at most half of the bytes.
    let charged = (0..<20).filter { limiter.charge(100, to: source(3, UInt64($0))) }
    #expect(charged.count == 5 && limiter.charge(200, to: source(4, 0)))
  }

  @Test func `an exempt address is not limited`() async throws {
    try await withServer(
      echo,
      {
        $0.unprovenConnectionsPerSource = 1
        $0.countsSource = { !$0.isLoopback }
      }
    ) { server, address in
      let silent = try (0..<5).map { _ in try WireConnection(address) }
      try eventually("five connections to be open") { server.statistics.open == 5 }
      #expect(silent.count == 5 && server.statistics.shed == 0)
    }
  }

  @Test func `request heads are limited as configured`() async throws {
    let small = HeadLimits(line: 100, fields: 200, count: 4)
    try await withServer(echo, { $0.head = small }) { _, address in
      let long = String(repeating: "a", count: 300)
      let cases: [(request: [UInt8], status: UInt16)] = [
        (get("/\(long)"), 414),
        (get("/", "X: \(long)\r\n"), 431),
        (get("/", "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n"), 431),
        (get("/", "A: 1\r\nB: 2\r\nC: 3\r\n"), 200),
      ]
      for (request, status) in cases {
        let connection = try WireConnection(address)
        try connection.send(request)
        #expect(try connection.response().status == status)
      }
    }
  }
}
