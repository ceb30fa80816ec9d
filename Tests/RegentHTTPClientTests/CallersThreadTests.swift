import Glibc
import RegentHTTPClient
import RegentHTTPCodec
import RegentPlatform
import TestSupport
import Testing

/// Tests calls that run on the caller's own thread.
@Suite struct CallersThreadTests {
  private static func client() -> Client { makeClient { $0.callThread = .callers } }

  private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  @Test func `a call on the caller's thread returns with the response, and the connection is reused`() throws {
    let server = try ScriptedServer { _, connection in
      for _ in 0..<3 {
        connection.readRequest()
        connection.send(Self.answer)
      }
    }
    let client = Self.client()
    for _ in 0..<3 {
      let came = Locked<Bool>(false)
      let thread = pthread_self()
      client.send(try ClientRequest(.get, ClientURL(server.url))) { result in
        came.withLock { $0 = (try? result.get().body) == Array("ok".utf8) && pthread_self() == thread }
      }
      #expect(came.withLock { $0 })
    }
    #expect(server.connections == 1)
  }

  @Test func `concurrent calls on callers' threads run one after the other`() async throws {
    let server = try ScriptedServer(answering: Self.answer)
    let client = Self.client()
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<8 {
        group.addTask { try await client.send(try ClientRequest(.get, ClientURL(server.url))).body }
      }
      for try await body in group { #expect(body == Array("ok".utf8)) }
    }
  }

  @Test func `host names are resolved, and an unreachable host is an error`() async throws {
    let server = try ScriptedServer(answering: Self.answer)
    let client = Self.client()
    let local = try ClientRequest(.get, ClientURL("http://localhost:\(server.port)"))
    #expect(await outcome(client, local).failureKind == nil)
    let nobody = try ClientRequest(.get, ClientURL("http://name.invalid"))
    #expect(await outcome(client, nobody).failureKind != nil)
  }

  @Test func `the deadline ends a call on the caller's thread`() async throws {
    let server = try ScriptedServer { _, connection in connection.waitForEnd() }
    var request = try ClientRequest(.get, ClientURL(server.url))
    request.deadline = .milliseconds(100)
    #expect(await outcome(Self.client(), request).failureKind == .timedOut(.waiting))
  }

  @Test func `another thread can cancel a call or close the client`() async throws {
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      connection.waitForEnd()
    }
    let client = Self.client()
    let request = try ClientRequest(.get, ClientURL(server.url))
    // These calls block their threads. On the shared thread pool, which other tests fill, they might start too late.
    let cancelled = Task(executorPreference: OnDemandThread(named: "first call")) {
      await outcome(client, request).failureKind
    }
    try await eventually("the first call") { server.connections == 1 }
    cancelled.cancel()
    #expect(await cancelled.value == .cancelled)
    let closed = Task(executorPreference: OnDemandThread(named: "second call")) {
      await outcome(client, request).failureKind
    }
    try await eventually("the second call") { server.connections == 2 }
    client.close()
    #expect(await closed.value == .cancelled)
    #expect(await outcome(client, request).failureKind == .cancelled)
  }
}
