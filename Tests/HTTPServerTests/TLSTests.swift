import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPlatform
import Synchronization
import TestSupport
import Testing

@Suite struct TLSTests {
  /// A server with its own certificate, and openssl's client to connect to it.
  private struct Site: Sendable {
    let folder: String
    let server: Server

    var files: TLSFiles {
      TLSFiles(certificate: "\(folder)/cert.pem", key: "\(folder)/key.pem")
    }

    /// Sends `input` and returns everything that the client printed, its own messages included.
    func connect(_ options: [String] = ["-quiet"], _ input: [UInt8]) throws -> String {
      guard case .network(_, let port) = server.addresses[0] else { return "" }
      let common = ["s_client", "-nameopt", "RFC2253", "-connect", "127.0.0.1:\(port)"]
      // Without -ign_eof the client treats some letters at the start of a line as commands.
      let manner = options.contains("-no_ign_eof") ? [] : ["-ign_eof"]
      let finished = try run("openssl", common + manner + options, input: input, deadline: 30)
      return finished.outputText + finished.errorText
    }
  }

  private func withSite(
    _ handler: some Handler = echo, _ configure: (inout ServerConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (Site) throws -> Void
  ) async throws {
    var configuration = ServerConfiguration()
    configuration.loops = 1
    configure(&configuration)
    let settings = configuration
    let outcome = await offPool {
      Result<Void, any Error> {
        try withTemporaryFolder { folder in
          try makeCertificate(in: folder, name: "first.example")
          let files = TLSFiles(certificate: "\(folder)/cert.pem", key: "\(folder)/key.pem")
          let listener = Listener(.network(.loopback, port: 0), tls: files, handler: handler)
          let server = try Server([listener], configuration: settings)
          defer { server.stop() }
          try body(Site(folder: folder, server: server))
        }
      }
    }
    try outcome.get()
  }

  private static let last = "Connection: close\r\n"

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func `requests over TLS are served and marked as encrypted`(version: String) async throws {
    let handler = ClosureHandler { request in
      .now(.text(.ok, "\(request.isTLS) \(request.isSecure) \(request.body.count)"))
    }
    try await withSite(handler) { site in
      let large = String(repeating: "x", count: 200_000)
      let said = try site.connect(
        ["-quiet", version], post("/1", "abc") + post("/2", large, TLSTests.last))
      #expect(said.contains("true true 3") && said.contains("true true 200000"))
      #expect(site.server.statistics.requests == 2)
    }
  }

  @Test func `a reply over TLS that is larger than every buffer arrives complete`() async throws {
    let large = String(repeating: "0123456789", count: 400_000)
    let handler = ClosureHandler { _ in .now(.text(.ok, large)) }
    try await withSite(handler) { site in
      let said = try site.connect(["-quiet"], get("/") + get("/", TLSTests.last))
      #expect(said.components(of: large) == 2)
    }
  }

  @Test func `replies over TLS may be asynchronous`() async throws {
    let handler = ClosureHandler { request in
      .later { reply in
        startThread { reply.complete(.text(.ok, "later \(request.body.count)")) }
      }
    }
    try await withSite(handler) { site in
      let said = try site.connect(
        ["-quiet"], post("/", "a") + post("/", "bb") + get("/", TLSTests.last))
      #expect(said.contains("later 1") && said.contains("later 2") && said.contains("later 0"))
    }
  }

  @Test func `the server negotiates no application protocol but HTTP/1.1`() async throws {
    try await withSite { site in
      let both = try site.connect(["-alpn", "h2,http/1.1"], get("/", TLSTests.last))
      #expect(both.contains("ALPN protocol: http/1.1") && both.contains("200 OK"))
      let other = try site.connect(["-alpn", "h2"], get("/", TLSTests.last))
      #expect(other.contains("no application protocol") && !other.contains("200 OK"))
      #expect(site.server.statistics.failedHandshakes == 1)
    }
  }

  @Test func `old TLS versions, weak ciphers and renegotiation are refused`() async throws {
    try await withSite { site in
      for options in [
        ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES128-SHA"],
        ["-tls1_2", "-cipher", "AES256-GCM-SHA384"],
      ] {
        #expect(!(try site.connect(options, get("/", TLSTests.last))).contains("200 OK"))
      }
      // A line with only the letter R makes this client request a renegotiation.
      let asked = try site.connect(["-tls1_2", "-no_ign_eof"], bytes("R\n"))
      #expect(asked.contains("RENEGOTIATING") && asked.contains("no renegotiation"))
    }
  }

  @Test func `a new certificate is loaded without a restart, and an invalid one is not`() async throws {
    try await withSite { site in
      let request = get("/", TLSTests.last)
      #expect(try site.connect([], request).contains("CN=first.example"))
      try makeCertificate(in: site.folder, name: "second.example")
      #expect(try site.connect([], request).contains("CN=first.example"))
      try site.server.reloadCertificates()
      #expect(try site.connect([], request).contains("CN=second.example"))
      try writeFile(site.files.certificate, bytes("nonsense"))
      #expect(throws: ServerError.self) { try site.server.reloadCertificates() }
      #expect(try site.connect([], request).contains("CN=second.example"))
    }
  }

  @Test func `a client that sends no or no valid TLS handshake is disconnected`()
    async throws
  {
    try await withSite(echo, { $0.deadlines.header = .milliseconds(100) }) { site in
      let silent = try WireConnection(site.server.addresses[0])
      #expect(try silent.rest().isEmpty)
      #expect(site.server.statistics.timedOut == 1)
      let plain = try WireConnection(site.server.addresses[0])
      try plain.send(get("/"))
      #expect(!String(decoding: try plain.rest(), as: UTF8.self).contains("HTTP/1.1 200"))
      try eventually("the handshake to fail") { site.server.statistics.failedHandshakes == 1 }
      try eventually("no connection to be open") { site.server.statistics.open == 0 }
    }
  }

  @Test func `a client that floods a TLS connection does not delay other clients`() async throws {
    let mayGoOn = Flag("the other request has been sent")
    let order = Locked<[String]>([])
    // The loop is blocked in the first request until the other client has sent its request.
    let handler = ClosureHandler { request in
      let path = String(decoding: request.path, as: UTF8.self)
      let isFirst = order.withLock { order in
        order.append(path)
        return order.count { $0 == "/flood" } == 1
      }
      if isFirst, path == "/flood" { _ = try? mayGoOn.block() }
      return .now(.text(.ok, path))
    }
    try await withSite(handler) { site in
      let plain = Listener(.network(.loopback, port: 0), handler: handler)
      let encrypted = Listener(.network(.loopback, port: 0), tls: site.files, handler: handler)
      var configuration = ServerConfiguration()
      configuration.loops = 1
      let server = try Server([encrypted, plain], configuration: configuration)
      defer { server.stop(within: .zero) }
      let quiet = try WireConnection(server.addresses[1])
      try quiet.send(get("/before"))
      _ = try quiet.response()
      let flood = post("/flood", String(repeating: "x", count: 14_000))
      let flooding = Site(folder: site.folder, server: server)
      startThread {
        _ = try? flooding.connect(["-quiet"], Array(repeatElement(flood, count: 100).joined()))
      }
      try eventually("the flood to begin") { order.withLock { $0.contains("/flood") } }
      try quiet.send(get("/quiet"))
      // Let the flood fill the socket buffer. If it does not, the test proves less but does not fail.
      _ = try? eventually("the flood to fill the socket", within: 5) {
        bytesReceived(at: server.addresses[0]) >= 60_000
      }
      mayGoOn.raise()
      #expect(try quiet.response().text == "/quiet")
      // The requests in one TLS record are answered, and then it is the other client's turn.
      let before = order.withLock { $0.prefix { $0 != "/quiet" }.count }
      #expect(before < 8)
    }
  }

  @Test func `the error of an unusable certificate or key names the file`() async throws {
    try await withSite { site in
      try withTemporaryFolder { other in
        try makeCertificate(in: other, name: "other.example")
        let (own, missing) = (site.files, "\(other)/missing.pem")
        for (files, name) in [
          (TLSFiles(certificate: own.certificate, key: "\(other)/key.pem"), "\(other)/key.pem"),
          (TLSFiles(certificate: missing, key: own.key), missing),
          (TLSFiles(certificate: own.certificate, key: own.certificate), own.certificate),
        ] {
          let error = #expect(throws: ServerError.self) {
            try Server([Listener(.network(.loopback, port: 0), tls: files, handler: echo)])
          }
          guard case .certificate(name, _)? = error else {
            Issue.record("\(name): \(error.map(\.description) ?? "")")
            continue
          }
        }
      }
    }
  }
}

/// How many bytes the kernel holds for the connections of this port until the program reads them.
private func bytesReceived(at address: ListenAddress) -> Int {
  guard case .network(_, let port) = address, let table = try? readFile("/proc/net/tcp") else { return 0 }
  let digits = String(port, radix: 16, uppercase: true)
  let wanted = ":" + String(repeating: "0", count: 4 - digits.count) + digits
  return String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst().reduce(0) { sum, line in
    // The fields: number, local address, remote address, state (01: connected), send queue:receive queue.
    let fields = line.split(separator: " ")
    guard fields.count > 4, fields[1].hasSuffix(wanted), fields[3] == "01" else { return sum }
    return sum + (fields[4].split(separator: ":").last.flatMap { Int($0, radix: 16) } ?? 0)
  }
}

private func makeCertificate(in folder: String, name: String) throws {
  let made = try run(
    "openssl",
    [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
      "2", "-subj", "/CN=\(name)", "-keyout", "\(folder)/key.pem", "-out", "\(folder)/cert.pem",
    ])
  guard made.status == 0 else { throw TestSupportError("openssl: \(made.errorText)") }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    var count = 0
    var rest = self[...]
    while let found = rest.firstRange(of: part) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }
}
