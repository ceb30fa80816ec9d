import Glibc
import RegentHTTPClient
import RegentHTTPCodec
import RegentPlatform
import Synchronization
import TestSupport
import Testing

@Suite struct DeadlineTests {
  static let slow: [(String, ClientError.Phase, @Sendable (Connection) -> Void)] = [
    ("never answers", .waiting, { $0.waitForEnd() }),
    (
      "stops in the head", .receiving,
      { connection in
        connection.send("HTTP/1.1 200 OK\r\nA")
        connection.waitForEnd()
      }
    ),
    (
      "drips", .receiving,
      { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while connection.send("x") { pass(milliseconds: 5) }
      }
    ),
    (
      "says it is working", .receiving,
      { connection in
        connection.send("HTTP/1.1 102 Processing\r\n\r\n")
        connection.waitForEnd()
      }
    ),
  ]

  @Test(arguments: slow)
  func `the deadline applies to the whole call`(
    case: (name: String, phase: ClientError.Phase, script: @Sendable (Connection) -> Void)
  ) async throws {
    let script = `case`.script
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      script(connection)
    }
    let client = makeClient()
    var request = try ClientRequest(.get, ClientURL(server.url))
    // Long enough for a busy machine to reach the expected phase.
    request.deadline = .seconds(1)
    #expect(await outcome(client, request).failureKind == .timedOut(`case`.phase))
  }

  @Test func `the call with the earlier deadline ends first, whichever began first`() async throws {
    let server = try ScriptedServer { _, connection in connection.waitForEnd() }
    let client = makeClient()
    let ended = Locked<[Int]>([])
    for milliseconds in [2_000, 200] {
      var request = try ClientRequest(.get, ClientURL(server.url))
      request.deadline = .milliseconds(milliseconds)
      _ = client.send(request) { _ in ended.withLock { $0.append(milliseconds) } }
    }
    try await eventually("both deadlines") { ended.withLock { $0.count == 2 } }
    #expect(ended.withLock { $0 } == [200, 2_000])
  }

  @Test func `a call to a server that does not read ends at the deadline`() async throws {
    let done = Flag("the test is done")
    let server = try ScriptedServer { _, connection in try? done.block() }
    var request = try ClientRequest(
      .post, ClientURL(server.url), body: [UInt8](repeating: 0, count: 50_000_000))
    request.deadline = .seconds(1)
    #expect(await outcome(makeClient(), request).failureKind == .timedOut(.sending))
    done.raise()
  }

  @Test func `a server that accepts and never answers the handshake has the time for look-up, connection and TLS`()
    async throws
  {
    let server = try ScriptedServer { _, connection in connection.waitForEnd() }
    var configuration = ClientConfiguration(wallClock: { Clocks.wallMilliseconds() })
    configuration.reachLimit = .milliseconds(300)
    let begin = Clocks.bootNanoseconds()
    let url = server.url.replacing("http://", with: "https://")
    let kind = await outcome(Client(configuration), try ClientRequest(.get, ClientURL(url))).failureKind
    #expect(kind == .timedOut(.connecting))
    // Without `reachLimit` the call would end after ten seconds, the limit of a connection.
    #expect(Clocks.bootNanoseconds(since: begin) < 8_000_000_000)
  }

  @Test func `a deadline of zero ends the call at once`() async throws {
    let server = try ScriptedServer { _, connection in connection.waitForEnd() }
    var request = try ClientRequest(.get, ClientURL(server.url))
    request.deadline = .zero
    let kind = await outcome(makeClient(), request).failureKind
    guard case .timedOut = kind else {
      Issue.record("\(String(describing: kind))")
      return
    }
  }

  @Test func `a slow call does not delay other calls`() async throws {
    let server = try ScriptedServer { _, connection in
      if connection.readRequest().contains("/slow") { return connection.waitForEnd() }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    }
    let client = makeClient()
    let slow = client.send(try ClientRequest(.get, ClientURL("\(server.url)/slow"))) { _ in }
    for _ in 0..<5 {
      let fast = try ClientRequest(.get, ClientURL("\(server.url)/fast"))
      #expect(try await client.send(fast).status == .ok)
    }
    slow.cancel()
  }

  @Test func `cancelling the task ends the call and closes its connection`() async throws {
    let began = Flag("the call begins")
    let ended = Flag("the connection ends")
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      began.raise()
      connection.waitForEnd()
      ended.raise()
    }
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL(server.url))
    let task = Task { await outcome(client, request) }
    try await began.wait()
    task.cancel()
    #expect(try await task.value("the end of the call").failureKind == .cancelled)
    try await ended.wait()
  }

  @Test func `a call in an already cancelled task ends at once`() async throws {
    let server = try ScriptedServer { _, connection in connection.waitForEnd() }
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL(server.url))
    let task = Task {
      _ = try? await eventually("the cancellation") { Task.isCancelled }
      return await outcome(client, request)
    }
    task.cancel()
    #expect(try await task.value("the end of the call").failureKind == .cancelled)
  }

  @Test func `a callback runs exactly once, however often the call is cancelled`() async throws {
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    }
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL(server.url))
    let count = Atomic(0)
    for _ in 0..<200 {
      let call = client.send(request) { _ in count.add(1, ordering: .relaxed) }
      call.cancel()
      call.cancel()
    }
    try await eventually("200 callbacks") { count.load(ordering: .relaxed) >= 200 }
    // One more call after them: no earlier callback can run after this.
    _ = try await client.send(request)
    #expect(count.load(ordering: .relaxed) == 200)
  }

  @Test func `closing the client cancels running and later calls`() async throws {
    let began = Flag("the call begins")
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      began.raise()
      connection.waitForEnd()
    }
    let client = makeClient()
    let request = try ClientRequest(.get, ClientURL(server.url))
    let task = Task { await outcome(client, request) }
    try await began.wait()
    client.close()
    #expect(try await task.value("the end of the call").failureKind == .cancelled)
    #expect(await outcome(client, request).failureKind == .cancelled)
  }

  @Test func `releasing a client closes its connections`() async throws {
    let ended = Flag("the connection ends")
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      connection.waitForEnd()
      ended.raise()
    }
    do {
      let client = makeClient()
      _ = try await client.send(ClientRequest(.get, ClientURL(server.url)))
    }
    try await ended.wait()
  }
}
