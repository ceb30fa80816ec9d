import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

/// The malformed bytes once more, through other people's proxies.
///
/// What these make of them is what reaches us in the field. Whatever a proxy forwards, it and the engine must agree on
/// how many requests that was and what was in them.
@Suite struct ReverseProxyTests {
  @Test(
    .enabled(
      if: installedProgram("nginx") != nil, "nginx is not installed: run deploy/bootstrap --test"),
    arguments: [ReverseProxy.Kind.nginx, .nginxStreaming])
  func `behind nginx the engine sees exactly what was forwarded`(
    kind: ReverseProxy.Kind
  ) async throws {
    try await check(kind)
  }

  @Test(
    .enabled(
      if: installedProgram("haproxy") != nil,
      "haproxy is not installed: run deploy/bootstrap --test"),
    arguments: [ReverseProxy.Kind.haproxy, .haproxyLax])
  func `behind haproxy the engine sees exactly what was forwarded`(
    kind: ReverseProxy.Kind
  ) async throws {
    try await check(kind)
  }

  private func check(_ kind: ReverseProxy.Kind) async throws {
    let findings = await offPool { Result { try Self.findings(kind) } }
    let (disagreements, forwarded) = try findings.get()
    #expect(disagreements.isEmpty)
    // A proxy that forwarded nothing would agree with everybody.
    #expect(forwarded > 30)
  }

  /// Sends every case over a connection of its own, all through one proxy that keeps its connections to the engine.
  private static func findings(_ kind: ReverseProxy.Kind) throws -> ([String], Int) {
    try withTemporaryFolder { folder in
      var configuration = ServerConfiguration()
      configuration.bodyBytes = 100_000
      let server = try RecordingServer(configuration: configuration)
      defer { server.stop() }
      let proxy = try ReverseProxy(kind, folder: folder, before: server.address)
      var disagreements: [String] = []
      var forwarded = 0
      var logged = try proxy.logged().count
      for wire in WireCase.all {
        server.forget()
        let connection = try WireConnection(proxy.address, patience: 2)
        try connection.send(wire.bytes + WireCase.follower)
        // A proxy that waits for more is no fault of the engine: this client gives up then.
        _ = try? connection.rest()

        // The next one on the same connection to the engine must get its own answer and nothing else.
        let canary = try WireConnection(proxy.address)
        try canary.send(
          Array("GET /canary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
        let answer = try canary.response()
        if answer.text != "GET /canary  (0)" {
          disagreements.append("\(wire): the next client got \(answer.status) \(answer.text)")
        }

        // Proxies write their log when they are done with a connection, which may be after its client is.
        let seen = server.seen
        var lines: [ReverseProxy.Forwarded] = []
        let agrees: Bool? = try? eventually("the log agrees", within: 3) {
          lines = Array(try proxy.logged().dropFirst(logged))
          return agree(lines.filter { $0.status == 200 }, seen) ? true : nil
        }
        logged += lines.count
        forwarded += seen.count - 1
        if agrees == nil { disagreements.append("\(wire): forwarded \(lines), seen \(seen)") }
      }
      return (disagreements, forwarded)
    }
  }

  private static func agree(
    _ sent: [ReverseProxy.Forwarded], _ seen: [RecordingServer.Seen]
  ) -> Bool {
    sent.elementsEqual(seen) { line, request in
      line.method == request.method && pathsAgree(line.target, request.target)
        && line.body.map { $0 == request.body } ?? true
    }
  }

  /// Proxies forward a URL as its path, with a slash when it has none.
  private static func pathsAgree(_ logged: String, _ seen: String) -> Bool {
    guard logged.hasPrefix("http://") else { return logged == seen }
    let path = logged.dropFirst(7).drop { $0 != "/" }
    return seen == logged || seen == (path.isEmpty ? "/" : String(path))
  }
}
