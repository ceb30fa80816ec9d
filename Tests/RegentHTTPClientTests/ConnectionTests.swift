import Glibc
import RegentHTTPClient
import RegentHTTPCodec
import RegentPlatform
import Synchronization
import TestSupport
import Testing

private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

@Suite struct ConnectionTests {
  @Test func `consecutive calls share a connection`() async throws {
    let server = try ScriptedServer { _, connection in
      while !connection.readRequest().isEmpty { connection.send(ok) }
    }
    let client = makeClient()
    for _ in 0..<5 { _ = try await client.send(ClientRequest(.get, ClientURL(server.url))) }
    #expect(server.connections == 1)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
    "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    // An extra response without a request must never become the response to the next call.
    ok + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
  ])
  func `a connection that must not be kept is not reused`(answer: String) async throws {
    let server = try ScriptedServer { _, connection in
      while !connection.readRequest().isEmpty { connection.send(answer) }
    }
    let client = makeClient()
    for _ in 0..<3 {
      let response = try await client.send(ClientRequest(.get, ClientURL(server.url)))
      #expect(response.body == Array("ok".utf8))
    }
    #expect(server.connections == 3)
  }

  @Test func `a response that arrives between two calls is never used`() async throws {
    let server = try ScriptedServer { number, connection in
      connection.readRequest()
      connection.send(ok)
      if number == 1 { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil") }
      connection.readRequest()
      connection.send(ok)
    }
    let client = makeClient()
    for _ in 0..<2 {
      let response = try await client.send(ClientRequest(.get, ClientURL(server.url)))
      #expect(response.body == Array("ok".utf8))
    }
  }

  @Test func `a kept connection that dies during a request is replaced once`() async throws {
    let server = try ScriptedServer { number, connection in
      connection.readRequest()
      connection.send(ok)
      // Reads the next request and closes without a response, like a server that restarts.
      connection.readRequest()
      if number == 2 { connection.send(ok) }
    }
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL(server.url))
    _ = try await client.send(request)
    _ = try await client.send(request)
    #expect(server.connections == 2)
  }

  @Test func `a call that must not be repeated does not use a connection that was idle for too long`() async throws {
    let server = try ScriptedServer { _, connection in
      while !connection.readRequest().isEmpty { connection.send(ok) }
    }
    let client = makeClient { $0.freshness = .zero }
    _ = try await client.send(ClientRequest(.get, ClientURL(server.url)))
    _ = try await client.send(ClientRequest(.get, ClientURL(server.url)))
    #expect(server.connections == 1)
    _ = try await client.send(ClientRequest(.post, ClientURL(server.url), body: [1]))
    #expect(server.connections == 2)
  }

  @Test func `an address that does not answer delays the attempt at the next address by less than a second`()
    async throws
  {
    // The first address of "localhost" does not answer: its queue is full, and the kernel drops further attempts. The
    // server listens at the second address.
    let silent = try FullQueue()
    let server = try ScriptedServer(ipv6Port: silent.port) { _, connection in
      connection.readRequest()
      connection.send(ok)
    }
    let client = makeClient()
    // Consecutive attempts would spend this whole deadline on the first address.
    var request = try ClientRequest(.get, ClientURL("http://localhost:\(silent.port)"))
    request.deadline = .seconds(9)
    let response = try await client.send(request)
    #expect(response.body == Array("ok".utf8))
    #expect(server.connections == 1)
  }

  @Test func `a replaced connection is not replaced again`() async throws {
    let server = try ScriptedServer { number, connection in
      connection.readRequest()
      if number == 1 {
        connection.send(ok)
        connection.readRequest()
      }
    }
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL(server.url))
    _ = try await client.send(request)
    #expect(await outcome(client, request).failureKind == .connectionLost)
    #expect(server.connections == 2)
  }

  @Test func `a call that requires a new connection is sent once and leaves the kept connection alone`() async throws {
    let server = try ScriptedServer { number, connection in
      connection.readRequest()
      if number == 2 { return }
      for _ in 1...2 {
        connection.send(ok)
        connection.readRequest()
      }
    }
    let client = makeClient()
    var request = try ClientRequest(.get, ClientURL(server.url))
    _ = try await client.send(request)
    request.usesNewConnection = true
    #expect(await outcome(client, request).failureKind == .connectionLost)
    request.usesNewConnection = false
    _ = try await client.send(request)
    #expect(server.connections == 2, "the call was not sent again, and the kept connection is reused")
  }

  @Test func `a call that the server may have executed is not repeated`() async throws {
    let seen = Atomic(0)
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      connection.send(ok)
      if !connection.readRequest().isEmpty { seen.add(1, ordering: .relaxed) }
    }
    let client = makeClient()
    _ = try await client.send(ClientRequest(.get, ClientURL(server.url)))
    let post = try ClientRequest(.post, ClientURL(server.url), body: [1])
    #expect(await outcome(client, post).failureKind == .connectionLost)
    #expect(server.connections == 1)
    #expect(seen.load(ordering: .relaxed) == 1)
  }

  @Test func `a kept connection that the server has closed is noticed before it is used`() async throws {
    let closed = Flag("the server closes the connection")
    let server = try ScriptedServer { number, connection in
      connection.readRequest()
      connection.send(ok)
      connection.close()
      closed.raise()
    }
    let client = makeClient()
    _ = try await client.send(ClientRequest(.get, ClientURL(server.url)))
    try await closed.wait()
    let post = try ClientRequest(.post, ClientURL(server.url), body: [1])
    #expect(try await client.send(post).status == .ok)
    #expect(server.connections == 2)
  }

  @Test func `a connection reset in the middle of a response is an error`() async throws {
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\nhalf")
      connection.reset()
    }
    let result = await outcome(makeClient(), try ClientRequest(.get, ClientURL(server.url)))
    #expect(result.failureKind == .connectionLost)
  }

  @Test func `concurrent calls use separate connections`() async throws {
    let server = try ScriptedServer { _, connection in
      while !connection.readRequest().isEmpty { connection.send(ok) }
    }
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL(server.url))
    try await withThrowingTaskGroup(of: Status.self) { group in
      for _ in 0..<100 { group.addTask { try await client.send(request).status } }
      for try await status in group { #expect(status == .ok) }
    }
  }

  @Test func `a port without a listener is reported at once`() async throws {
    let port = try freePort()
    for host in ["127.0.0.1", "localhost", "[::1]"] {
      let url = try ClientURL("http://\(host):\(port)/")
      guard case .failure(let error) = await outcome(makeClient(), ClientRequest(.get, url)) else {
        Issue.record("the call was answered")
        return
      }
      let words = "\(error)"
      #expect(words.hasPrefix("http://\(host):\(port) cannot be reached: "))
      #expect(error.hint != nil)
      if host == "127.0.0.1" { #expect(error.kind == .unreachable(.refused)) }
    }
  }

  @Test func `localhost reaches a server on the loopback address`() async throws {
    let server = try ScriptedServer(answering: ok)
    let url = try ClientURL("http://LocalHost:\(server.port)")
    #expect(try await makeClient().send(ClientRequest(.get, url)).status == .ok)
  }

  @Test func `a host name that cannot exist is an error`() async throws {
    let url = try ClientURL("http://no-such-host.invalid/")
    let kind = await outcome(makeClient(), ClientRequest(.get, url)).failureKind
    #expect(kind == .unreachable(.unknownName) || kind == .unreachable(.lookUpFailed))
  }
}

@Suite struct UnixSocketTests {
  @Test func `calls work over a Unix socket`() async throws {
    try await withTemporaryFolder { folder in
      let path = "\(folder)/admin.sock"
      let server = try ScriptedServer(unixPath: path) { _, connection in
        while true {
          let request = connection.readRequest()
          if request.isEmpty { return }
          let isRight = request.hasPrefix("GET /stats?a=b HTTP/1.1\r\nHost: localhost\r\n")
          connection.send(isRight ? ok : "HTTP/1.1 400 Bad\r\n\r\n")
        }
      }
      let client = makeClient()
      let url = try ClientURL(unixSocket: path, target: "/stats?a=b")
      for _ in 0..<3 { #expect(try await client.send(ClientRequest(.get, url)).status == .ok) }
      #expect(server.connections == 1)
    }
  }

  @Test func `a missing Unix socket and one without a listener are reported`() async throws {
    try await withTemporaryFolder { folder in
      let missing = try ClientURL(unixSocket: "\(folder)/no.sock", target: "/")
      let one = await outcome(makeClient(), ClientRequest(.get, missing))
      #expect(one.failureKind == .unreachable(.noSocket))
      try ScriptedServer(unixPath: "\(folder)/dead.sock") { _, _ in }.stop()
      let dead = try ClientURL(unixSocket: "\(folder)/dead.sock", target: "/")
      let other = await outcome(makeClient(), ClientRequest(.get, dead))
      #expect(other.failureKind == .unreachable(.refused))
      guard case .failure(let error) = one else { return }
      #expect("\(error)" == "unix:\(folder)/no.sock cannot be reached: the socket does not exist")
    }
  }

  @Test func `a full accept queue is waited for until the deadline`() async throws {
    try await withTemporaryFolder { folder in
      let path = "\(folder)/busy.sock"
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(listener) }
      let address = try SocketAddress(unixPath: path)
      #expect(unsafe address.withPointer { unsafe bind(listener, $0, $1) } == 0)
      #expect(listen(listener, 0) == 0)
      let client = makeClient()
      var request = try ClientRequest(.get, ClientURL(unixSocket: path, target: "/"))
      request.deadline = .milliseconds(150)
      // The first call fills the queue. The test never accepts, so all calls reach their deadline.
      let kinds = await withTaskGroup(of: ClientError.Kind?.self) { group in
        for _ in 0..<4 { group.addTask { [request] in await outcome(client, request).failureKind } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      let allowed: [ClientError.Kind?] = [.timedOut(.connecting), .timedOut(.waiting)]
      #expect(kinds.allSatisfy { allowed.contains($0) })
      #expect(kinds.contains(.timedOut(.connecting)))
    }
  }
}
