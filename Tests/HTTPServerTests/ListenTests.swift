import Glibc
import RegentHTTPCodec
import HTTPTestSupport
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct ListenTests {
  static let texts: [(String, ListenAddress?)] = [
    ("127.0.0.1:8787", .network(.loopback, port: 8787)),
    ("localhost:0", .network(.loopback, port: 0)),
    ("[::1]:80", .network(IPAddress(high: 0, low: 1), port: 80)),
    ("*:80", .network(IPAddress(high: 0, low: 0), port: 80)),
    ("unix:/run/x", .local(path: "/run/x", mode: 0o660, group: nil)),
    ("unix:x", nil), ("127.0.0.1", nil), ("127.0.0.1:", nil), ("127.0.0.1:99999", nil),
    ("127.0.0.1:+80", nil), ("127.0.0.1:-0", nil), ("127.0.0.1:\u{663}", nil),
    ("::1:80", nil), ("[127.0.0.1]:80", nil), ("example.com:80", nil), (":80", nil), ("", nil),
  ]

  @Test("a listen address is parsed from text", arguments: texts)
  func reads(text: String, expected: ListenAddress?) { #expect(ListenAddress(text) == expected) }

  @Test func `listening on a port that is in use fails with a clear error`() async throws {
    try await withServer(echo) { _, address in
      #expect(throws: ServerError.addressInUse(address)) {
        try Server([Listener(address, handler: echo)])
      }
      guard case .network(_, let port) = address else { return }
      let everywhere = ListenAddress.network(IPAddress(high: 0, low: 0), port: port)
      #expect(throws: ServerError.addressInUse(everywhere)) {
        try Server([Listener(everywhere, handler: echo)])
      }
      #expect("\(ServerError.addressInUse(address))".contains("already listening"))
    }
  }

  @Test func `no socket stays bound if one of the listeners fails`() async throws {
    try await withServer(echo) { _, taken in
      try withTemporaryFolder { folder in
        let first = ListenAddress.local(path: "\(folder)/s", mode: 0o600, group: nil)
        #expect(throws: ServerError.self) {
          try Server([Listener(first, handler: echo), Listener(taken, handler: echo)])
        }
        #expect(!exists("\(folder)/s"))
      }
    }
  }

  @Test func `each listener has its own handler, and IPv6 works`() async throws {
    let outcome = await offPool {
      Result<Void, any Error> {
        let handlers = ["one", "two"].map { name in
          ClosureHandler { .now(.text(.ok, "\(name) \($0.clientAddress?.description ?? "-")")) }
        }
        let server = try Server([
          Listener(.network(.loopback, port: 0), handler: handlers[0]),
          Listener(.network(IPAddress(high: 0, low: 1), port: 0), handler: handlers[1]),
        ])
        defer { server.stop() }
        let answers = try server.addresses.map { address in
          let connection = try WireConnection(address)
          try connection.send(get("/"))
          return try connection.response().text
        }
        #expect(answers == ["one 127.0.0.1", "two ::1"])
      }
    }
    try outcome.get()
  }
}

@Suite struct UnixSocketTests {
  private func withFolder(_ body: @escaping @Sendable (String) throws -> Void) async throws {
    let outcome = await offPool {
      Result<Void, any Error> { try withTemporaryFolder { try body($0) } }
    }
    try outcome.get()
  }

  private static let whoIsThere = ClosureHandler { request in
    guard let who = request.peer.credentials else { return .now(.text(.forbidden, "nobody")) }
    return .now(.text(.ok, "\(who.process) \(who.user) \(who.group)"))
  }

  @Test func `a handler knows the process, user and group at the other end of a Unix socket`() async throws {
    try await withFolder { folder in
      let address = ListenAddress.local(path: "\(folder)/s", mode: 0o640, group: getgid())
      let server = try Server([Listener(address, handler: UnixSocketTests.whoIsThere)])
      defer { server.stop() }
      let connection = try WireConnection(address)
      try connection.send(get("/"))
      #expect(try connection.response().text == "\(getpid()) \(geteuid()) \(getegid())")
      #expect(mode(of: "\(folder)/s") == 0o640)
    }
  }

  @Test func `a user may have a share of the connections, even with valid requests`()
    async throws
  {
    try await withFolder { folder in
      let address = ListenAddress.local(path: "\(folder)/s", mode: 0o600, group: nil)
      var configuration = ServerConfiguration()
      configuration.connections = 8
      configuration.favouredUsers = []
      let server = try Server([Listener(address, handler: echo)], configuration: configuration)
      defer { server.stop() }
      var mine = try (0..<2).map { _ in
        let connection = try WireConnection(address)
        try connection.send(get("/"))
        // Over a Unix socket a valid request does not free the user's place.
        #expect(try connection.response().status == 200)
        return connection
      }
      #expect(try WireConnection(address).response().status == 503)
      #expect(server.statistics.shed == 1)
      mine.removeLast()
      try eventually("one connection to be open") { server.statistics.open == 1 }
      let next = try WireConnection(address)
      try next.send(get("/next"))
      #expect(try next.response().text == "GET /next ")
    }
  }

  @Test func `a favoured user may have all connections`() async throws {
    try await withFolder { folder in
      let address = ListenAddress.local(path: "\(folder)/s", mode: 0o600, group: nil)
      var configuration = ServerConfiguration()
      configuration.connections = 8
      configuration.favour(rootAnd: geteuid())
      let server = try Server([Listener(address, handler: echo)], configuration: configuration)
      defer { server.stop() }
      let all = try (0..<8).map { _ in try WireConnection(address) }
      try eventually("eight connections to be open") { server.statistics.open == 8 }
      #expect(all.count == 8 && server.statistics.shed == 0)
    }
  }

  /// One person may have a range of 65,536 users in /etc/subuid.
  @Test func `users that are not in the settings leave connections for those that are`() {
    var configuration = ServerConfiguration()
    configuration.connections = 40
    let limiter = SourceLimiter(configuration)
    let strangers = (UInt32(100_000)..<100_400).count { limiter.admit(.stranger($0)) }
    #expect(strangers == 10)
    #expect((0..<20).count { _ in limiter.admit(.user(7)) } == 10)
    #expect((0..<20).count { _ in limiter.admit(.group(8)) } == 10)
    limiter.release(.stranger(100_003))
    #expect(limiter.admit(.stranger(100_500)) && !limiter.admit(.stranger(100_501)))
  }

  @Test func `a user that is not in the settings is refused once those users have their share`() async throws {
    for named in [NamedUsers(users: [], groups: []), NamedUsers(users: [geteuid()], groups: [])] {
      try await withFolder { folder in
        let address = ListenAddress.local(path: "\(folder)/s", mode: 0o600, group: nil)
        var configuration = ServerConfiguration()
        configuration.connections = 8
        configuration.favouredUsers = []
        configuration.namedUsers = named
        let server = try Server([Listener(address, handler: echo)], configuration: configuration)
        defer { server.stop() }
        let mine = try (0..<2).map { _ in try WireConnection(address) }
        try eventually("two connections to be open") { server.statistics.open == 2 }
        #expect(try WireConnection(address).response().status == 503)
        #expect(mine.count == 2)
      }
    }
  }

  @Test func `all users together leave a quarter of the connections free`() {
    var configuration = ServerConfiguration()
    configuration.connections = 40
    let limiter = SourceLimiter(configuration)
    let admitted = (UInt32(1)...8).map { user in
      (0..<20).count { _ in limiter.admit(.user(user)) }
    }
    #expect(admitted == [10, 10, 10, 0, 0, 0, 0, 0])
    limiter.release(.user(2))
    #expect(limiter.admit(.user(7)) && !limiter.admit(.user(8)))
  }

  @Test func `the socket file of a dead server is replaced, and that of a running one is not`() async throws {
    try await withFolder { folder in
      let address = ListenAddress.local(path: "\(folder)/s", mode: 0o600, group: nil)
      let first = try Server([Listener(address, handler: echo)])
      #expect(throws: ServerError.addressInUse(address)) {
        try Server([Listener(address, handler: echo)])
      }
      // A killed server leaves its socket file behind, without a listener.
      move("\(folder)/s", to: "\(folder)/kept")
      first.stop()
      move("\(folder)/kept", to: "\(folder)/s")
      let second = try Server([Listener(address, handler: echo)])
      let connection = try WireConnection(address)
      try connection.send(get("/second"))
      #expect(try connection.response().text == "GET /second ")
      second.stop()
      #expect(!exists("\(folder)/s"))
    }
  }

  @Test func `a file that is no socket is left unchanged`() async throws {
    try await withFolder { folder in
      let path = "\(folder)/precious"
      try writeFile(path, bytes("data"))
      let address = ListenAddress.local(path: path, mode: 0o600, group: nil)
      #expect(throws: ServerError.notASocket(path: path)) {
        try Server([Listener(address, handler: echo)])
      }
      #expect(try readFile(path) == bytes("data"))
    }
  }

  @Test func `an invalid socket path is an error`() async throws {
    try await withFolder { folder in
      for path in ["\(folder)/" + String(repeating: "x", count: 200), "\(folder)/missing/s"] {
        #expect(throws: ServerError.self) {
          try Server([Listener(.local(path: path, mode: 0o600, group: nil), handler: echo)])
        }
      }
    }
  }
}

private func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

private func move(_ path: String, to other: String) {
  let result = unsafe rename(path, other)
  #expect(result == 0)
}

private func mode(of path: String) -> UInt32? {
  var status = stat()
  return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}
