import HTTPServer
import HTTPTestSupport
import TestSupport
import Testing

/// Sends the malformed requests through third-party proxies.
///
/// What a proxy makes of them is what reaches the server in practice. The proxy and the server must agree on the
/// number of forwarded requests and on their content.
@Suite struct ReverseProxyTests {
  @Test(
    .enabled(
      if: installedProgram("nginx") != nil, "nginx is not installed: run deploy/bootstrap --test"),
    arguments: [ReverseProxy.Kind.nginx, .nginxStreaming])
  func `behind nginx the server sees exactly the requests that nginx forwarded`(
    kind: ReverseProxy.Kind
  ) async throws {
    try await check(kind)
  }

  @Test(
    .enabled(
      if: installedProgram("haproxy") != nil,
      "haproxy is not installed: run deploy/bootstrap --test"),
    arguments: [ReverseProxy.Kind.haproxy, .haproxyLax])
  func `behind haproxy the server sees exactly the requests that haproxy forwarded`(
    kind: ReverseProxy.Kind
  ) async throws {
    try await check(kind)
  }

  private func check(_ kind: ReverseProxy.Kind) async throws {
    let findings = await offPool { Result { try Self.findings(kind) } }
    let (disagreements, forwarded) = try findings.get()
    #expect(disagreements.isEmpty)
    // Make sure that the proxy forwards at all, because otherwise both would agree on nothing.
    #expect(forwarded > 30)
  }

  /// Sends each case over its own connection to one proxy, which keeps its connections to the server open.
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
        // If the proxy waits for more bytes, that is no fault of the server, so give up after the patience.
        _ = try? connection.rest()

        // The next request on the same proxy connection must get its own response and nothing else.
        let canary = try WireConnection(proxy.address)
        try canary.send(
          Array("GET /canary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
        let answer = try canary.response()
        if answer.text != "GET /canary  (0)" {
          disagreements.append("\(wire): the next client got \(answer.status) \(answer.text)")
        }

        // A proxy writes its log when it is done with a connection, which may be after its client is.
        let seen = server.seen
        var lines: [ReverseProxy.Forwarded] = []
        let agrees: Bool? = try? eventually("the log to agree", within: 3) {
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

  /// A proxy logs the full URL of a request but forwards its path, or a slash if it has none.
  private static func pathsAgree(_ logged: String, _ seen: String) -> Bool {
    guard logged.hasPrefix("http://") else { return logged == seen }
    let path = logged.dropFirst(7).drop { $0 != "/" }
    return seen == logged || seen == (path.isEmpty ? "/" : String(path))
  }
}
