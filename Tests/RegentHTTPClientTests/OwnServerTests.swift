import RegentHTTPClient
import RegentHTTPCodec
import HTTPServer
import RegentPlatform
import TestSupport
import Testing

@Suite struct OwnServerTests {
  @Test func `our HTTP client works with our HTTP server`() async throws {
    try await withTemporaryFolder { folder in
      let held = Locked<[PendingReply]>([])
      let handler = ClosureHandler { request in
        if request.path == Array("/wait".utf8) {
          return .later { reply in held.withLock { $0.append(reply) } }
        }
        return .now(Response(.ok, body: request.target + request.body))
      }
      let server = try Server([
        Listener(.network(.loopback, port: 0), handler: handler),
        Listener(.local(path: "\(folder)/own.sock", mode: 0o600, group: nil), handler: handler),
      ])
      defer { server.stop() }
      let tcp = try #require(
        server.addresses.compactMap { "\($0)" }.first { !$0.hasPrefix("unix") })
      let client = makeClient()
      let urls = [
        try ClientURL("http://\(tcp)/a?b"),
        try ClientURL(unixSocket: "\(folder)/own.sock", target: "/a?b"),
      ]
      for url in urls {
        for _ in 0..<20 {
          let response = try await client.send(ClientRequest(.put, url, body: Array("body".utf8)))
          #expect(response.body == Array("/a?bbody".utf8))
          #expect(response.serverDate != nil)
        }
      }
      let wait = try ClientRequest(.get, ClientURL("http://\(tcp)/wait"))
      let waiting = Task { await outcome(client, wait) }
      try await eventually("the server to hold the call") { held.withLock { !$0.isEmpty } }
      for reply in held.withLock({ $0 }) { reply.complete(Response(.ok, body: [1, 2, 3])) }
      #expect(try await waiting.value("the answer").get().body == [1, 2, 3])
    }
  }

  @Test func `the server notices that a client has cancelled its call`() async throws {
    let began = Flag("the call begins")
    let abandoned = Flag("the server hears of the end")
    let kept = Locked<[PendingReply]>([])
    let handler = ClosureHandler { _ in
      .later { reply in
        reply.onAbandoned { abandoned.raise() }
        kept.withLock { $0.append(reply) }
        began.raise()
      }
    }
    let server = try Server([Listener(.network(.loopback, port: 0), handler: handler)])
    defer { server.stop() }
    let address = try #require(server.addresses.first)
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL("http://\(address)/"))
    let call = client.send(request) { _ in }
    try await began.wait()
    call.cancel()
    try await abandoned.wait()
  }
}
