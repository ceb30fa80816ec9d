import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import Testing

@Suite struct SlowReaderTests {
  @Test(arguments: [16_383, 16_384, 65_536, 3_000_000])
  func `large replies arrive complete and in order, even pipelined`(size: Int) async throws {
    let result = await offPool { Result { try Self.pipelined(size) } }
    let bodies = try result.get()
    #expect(bodies.count == 6)
    for (number, body) in bodies.enumerated() {
      #expect(body.count == (number.isMultiple(of: 2) ? size : 5))
      #expect(body.first == UInt8(ascii: number.isMultiple(of: 2) ? "a" : "s"))
    }
  }

  /// Requests a large and a small body in turn, sends all requests at once, and reads only then.
  private static func pipelined(_ size: Int) throws -> [[UInt8]] {
    let large = PreparedResponse(Response(.ok, body: [UInt8](repeating: 0x61, count: size)))
    let handler = ClosureHandler { request in
      request.path == Array("/large".utf8) ? .now(Response(large)) : .now(.text(.ok, "small"))
    }
    var configuration = ServerConfiguration()
    configuration.loops = 1
    let server = try Server(
      [Listener(.network(.loopback, port: 0), handler: handler)], configuration: configuration)
    defer { server.stop() }
    let connection = try WireConnection(server.addresses[0])
    var requests = ""
    for number in 0..<6 {
      requests += "GET /\(number.isMultiple(of: 2) ? "large" : "small") HTTP/1.1\r\nHost: a\r\n\r\n"
    }
    try connection.send(Array(requests.utf8))
    // Another client is served while this one does not read.
    let other = try WireConnection(server.addresses[0])
    try other.send(Array("GET /small HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
    guard try other.response().text == "small" else { throw WireError("the other client got no reply") }
    return try (0..<6).map { _ in try connection.response().body }
  }
}
