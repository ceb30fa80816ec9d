import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPlatform
import Synchronization
import Testing

/// Runs `body`, which may block, with a server of one loop; stops the server afterwards.
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

/// Answers with the method, the path and the body.
let echo = ClosureHandler { request in
  let path = String(decoding: request.path, as: UTF8.self)
  let body = String(decoding: request.body, as: UTF8.self)
  return .now(.text(.ok, "\(request.method) \(path) \(body)"))
}

/// Holds pending replies until the test completes them, by path.
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

  /// Waits for a reply to be owed for `path` and takes it out.
  func take(_ path: String) throws -> PendingReply {
    try eventually {
      parked.withLock { parked in
        guard let index = parked.firstIndex(where: { $0.path == path }) else { return nil }
        return parked.remove(at: index).reply
      }
    }
  }
}

/// Asks until there is an answer; an error after ten seconds.
func eventually<Value>(_ ask: () throws -> Value?) throws -> Value {
  let clock = ContinuousClock()
  let end = clock.now + .seconds(10)
  while clock.now < end {
    if let value = try ask() { return value }
    pause(milliseconds: 2)
  }
  throw WireError("it did not happen within ten seconds")
}

/// Waits until a condition holds.
func eventually(_ condition: () -> Bool) throws {
  _ = try eventually { condition() ? true : nil }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A GET with keep-alive.
func get(_ path: String, _ fields: String = "") -> [UInt8] {
  bytes("GET \(path) HTTP/1.1\r\nHost: test.example\r\n\(fields)\r\n")
}

/// A POST with a Content-Length.
func post(_ path: String, _ body: String, _ fields: String = "") -> [UInt8] {
  bytes(
    "POST \(path) HTTP/1.1\r\nHost: test.example\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
  )
}

/// Holds a thread until the test lets it go.
final class Turnstile: Sendable {
  private let state = Locked((isBlocking: false, isOpen: false))

  var isBlocking: Bool { state.withLock { $0.isBlocking } }

  func block() {
    state.withLock { $0.isBlocking = true }
    while !state.withLock({ $0.isOpen }) { pause(milliseconds: 2) }
  }

  func letGo() { state.withLock { $0.isOpen = true } }
}
