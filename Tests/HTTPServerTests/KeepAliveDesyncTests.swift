import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPlatform
import TestSupport
import Testing

/// Tries everything that could make a proxy and the server disagree about which response belongs to which request:
/// replies without a body, refusals and aborted requests, one after another over the few connections that a proxy
/// keeps open.
@Suite struct KeepAliveDesyncTests {
  private final class Planted: Sendable {
    private let count = Locked(0)
    func add() { count.withLock { $0 += 1 } }
    var now: Int { count.withLock { $0 } }
  }

  private enum Act: CaseIterable {
    case head, chunked, expecting, noContent, unchanged, tooLarge, requestInBody, bodyCutShort, leftBeforeTheAnswer
    case answeredIntoNothing, pipelined
  }

  @Test(arguments: ReverseProxy.Kind.installed)
  func `each client behind a proxy gets its own response, whatever others did on the connection`(
    kind: ReverseProxy.Kind
  ) async throws {
    let result = await offPool { Result { try Self.play(kind) } }
    let (strangers, planted) = try result.get()
    #expect(strangers == [])
    #expect(planted == 0, "the server treated a body as a request")
  }

  private static func play(_ kind: ReverseProxy.Kind) throws -> ([String], Int) {
    try withTemporaryFolder { folder in
      let parking = Parking()
      let planted = Planted()
      var configuration = ServerConfiguration()
      configuration.loops = 1
      configuration.bodyBytes = 10_000
      let handler = ClosureHandler { request in
        let path = String(decoding: request.path, as: UTF8.self)
        switch path {
        case "/planted": planted.add()
        case "/empty": return .now(Response(.noContent))
        case "/same": return .now(Response(.notModified))
        default: break
        }
        if path.hasPrefix("/later") { return parking.handle(request) }
        return .now(.text(.ok, "\(request.method) \(path) \(request.body.count)"))
      }
      let server = try Server(
        [Listener(.network(.loopback, port: 0), handler: handler)], configuration: configuration)
      defer { server.stop() }
      let proxy = try ReverseProxy(kind, folder: folder, before: server.addresses[0])
      var strangers: [String] = []
      // The acts may affect each other, so this order has each act before and after different ones.
      let order =
        Act.allCases + Act.allCases.reversed()
        + Act.allCases.enumerated().sorted {
          ($0.offset * 7 % 11) < ($1.offset * 7 % 11)
        }.map(\.element)
      for (number, act) in order.enumerated() {
        if let odd = try perform(act, number, proxy.address, parking) { strangers.append("\(act): \(odd)") }
        for neighbour in 0..<2 {
          let path = "/after/\(number)/\(neighbour)"
          let client = try WireConnection(proxy.address)
          try client.send(get(path))
          let answer = try client.response()
          if answer.text != "GET \(path) 0" { strangers.append("after \(act): \(answer.status) \(answer.text)") }
        }
      }
      return (strangers, planted.now)
    }
  }

  /// Performs one act.
  ///
  /// Returns a wrong response, or nil.
  private static func perform(
    _ act: Act, _ number: Int, _ address: ListenAddress, _ parking: Parking
  ) throws -> String? {
    let client = try WireConnection(address, patience: 5)
    let path = "/\(number)"
    switch act {
    case .head:
      try client.send(bytes("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n"))
      let first = try client.response(toHead: true)
      try client.send(get(path))
      return first.body.isEmpty ? try mismatch(client, "GET \(path) 0") : "a body to HEAD"
    case .chunked:
      try client.send(
        bytes("POST \(path) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
      return try mismatch(client, "POST \(path) 5")
    case .expecting:
      try client.send(post(path, "hello", "Expect: 100-continue\r\n"))
      let first = try client.response()
      return first.status == 100
        ? try mismatch(client, "POST \(path) 5") : first.text == "POST \(path) 5" ? nil : first.text
    case .noContent, .unchanged:
      try client.send(get(act == .noContent ? "/empty" : "/same"))
      let answer = try client.response()
      return answer.status == (act == .noContent ? 204 : 304) && answer.body.isEmpty ? nil : answer.text
    case .tooLarge:
      try client.send(post(path, String(repeating: "a", count: 20_000)))
      let status = try client.response().status
      // A proxy that was still sending may have seen the end of the connection before the response.
      return [413, 502, 503].contains(status) ? nil : "\(status)"
    case .requestInBody:
      let inner = "GET /planted HTTP/1.1\r\nHost: a\r\n\r\n"
      try client.send(post(path, inner))
      return try mismatch(client, "POST \(path) \(inner.utf8.count)")
    case .bodyCutShort:
      try client.send(bytes("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nGET /planted HTTP/1.1\r\n"))
      return nil
    case .leftBeforeTheAnswer, .answeredIntoNothing:
      try client.send(get("/later\(path)"))
      let reply = try parking.take("/later\(path)")
      if act == .answeredIntoNothing { client.finishSending() }
      reply.complete(.text(.ok, "late \(path)"))
      return nil
    case .pipelined:
      try client.send(get("\(path)/1") + post("\(path)/2", "hello") + get("\(path)/3"))
      return try mismatch(client, "GET \(path)/1 0") ?? mismatch(client, "POST \(path)/2 5")
        ?? mismatch(client, "GET \(path)/3 0")
    }
  }

  private static func mismatch(_ client: WireConnection, _ expected: String) throws -> String? {
    let answer = try client.response()
    return answer.text == expected ? nil : "\(answer.status) \(answer.text)"
  }
}
