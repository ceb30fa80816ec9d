internal import RegentHTTPCodec
public import HTTPServer
internal import RegentPlatform

/// A server that records every request its handler gets, and replies with what it understood.
public final class RecordingServer: Sendable {
  public struct Seen: Sendable, Equatable, CustomStringConvertible {
    public let method: String
    public let target: String
    /// The body without the chunked encoding.
    public let body: [UInt8]

    public var description: String {
      "\(method) \(target) \(String(decoding: body.prefix(40), as: UTF8.self)) (\(body.count))"
    }
  }

  private final class Record: Sendable {
    let seen = Locked<[Seen]>([])
  }

  private let record = Record()
  private let server: Server

  /// Starts listening on a free port of the loopback address.
  public init(configuration: ServerConfiguration = .init()) throws {
    let record = record
    let handler = ClosureHandler { request in
      let seen = Seen(
        method: request.method.token, target: String(decoding: request.target, as: UTF8.self),
        body: request.body)
      record.seen.withLock { $0.append(seen) }
      return .now(.text(.ok, "\(seen)"))
    }
    var configuration = configuration
    configuration.loops = 1
    server = try Server(
      [Listener(.network(.loopback, port: 0), handler: handler)], configuration: configuration)
  }

  public var address: ListenAddress { server.addresses[0] }

  /// The requests that reached the handler.
  public var seen: [Seen] { record.seen.withLock { $0 } }

  public func forget() { record.seen.withLock { $0 = [] } }

  /// Stops the server, and returns when its threads have ended.
  public func stop() { server.stop() }
}
