import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPlatform
import Synchronization
import TestSupport
import Testing

/// Runs `body` with a server that has one loop, and stops the server afterwards.
///
/// `body` may block.
func withServer<Value: Sendable>(
  _ handler: some Handler, _ configure: (inout ServerConfiguration) -> Void = { _ in },
  _ body: @escaping @Sendable (Server, ListenAddress) throws -> Value
) async throws -> Value {
  var configuration = ServerConfiguration()
  configuration.loops = 1
  configure(&configuration)
  let settings = configuration
  let outcome = await offPool {
    Result<Value, any Error> {
      let server = try Server(
        [Listener(.network(.loopback, port: 0), handler: handler)], configuration: settings)
      defer { server.stop() }
      return try body(server, server.addresses[0])
    }
  }
  return try outcome.get()
}

/// Replies with the method, the path and the body.
let echo = ClosureHandler { request in
  let path = String(decoding: request.path, as: UTF8.self)
  let body = String(decoding: request.body, as: UTF8.self)
  return .now(.text(.ok, "\(request.method) \(path) \(body)"))
}

/// A handler that keeps the replies to `/later…` pending until the test completes them.
final class Parking: Handler {
  struct Parked: Sendable {
    let path: String
    let reply: PendingReply
  }

  private let parked = Locked<[Parked]>([])
  private let abandonments = Atomic<Int>(0)

  func handle(_ request: Request) -> Answer {
    let path = String(decoding: request.path, as: UTF8.self)
    guard path.hasPrefix("/later") else { return .now(.text(.ok, "now \(path)")) }
    return .later { reply in
      reply.onAbandoned { self.abandonments.add(1, ordering: .relaxed) }
      self.parked.withLock { $0.append(Parked(path: path, reply: reply)) }
    }
  }

  var abandoned: Int { abandonments.load(ordering: .relaxed) }

  /// Waits for a pending reply for `path` and removes it from the list.
  func take(_ path: String) throws -> PendingReply {
    try eventually("a reply owed for \(path)") {
      parked.withLock { parked in
        guard let index = parked.firstIndex(where: { $0.path == path }) else { return nil }
        return parked.remove(at: index).reply
      }
    }
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func get(_ path: String, _ fields: String = "") -> [UInt8] {
  bytes("GET \(path) HTTP/1.1\r\nHost: test.example\r\n\(fields)\r\n")
}

func post(_ path: String, _ body: String, _ fields: String = "") -> [UInt8] {
  bytes(
    "POST \(path) HTTP/1.1\r\nHost: test.example\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
  )
}

/// Blocks a thread until the test releases it.
final class Turnstile: Sendable {
  private let blocks = Flag("the thread is blocked")
  private let opened = Flag("the test releases the thread")

  var isBlocking: Bool { blocks.isRaised }

  func block() {
    blocks.raise()
    // A handler cannot throw. If the test never releases it, the test's next request fails.
    _ = try? opened.block()
  }

  func letGo() { opened.raise() }
}

/// How many requests ``turnLoop(_:)`` sends.
let turns = 2

/// Waits until the server's only loop has read everything that had arrived before.
///
/// It sends two requests on another connection: when the second is read, the loop has seen everything that came
/// before it.
func turnLoop(_ connection: WireConnection) throws {
  for _ in 0..<turns {
    try connection.send(get("/turn"))
    _ = try connection.response()
  }
}

func turnLoop(_ address: ListenAddress) throws { try turnLoop(try WireConnection(address)) }
