import HTTPServer
import HTTPTestSupport
import Testing

@Suite struct MalformedRequestTests {
  @Test(arguments: WireCase.all)
  func `malformed bytes are refused, and the request after them is not served`(
    wire: WireCase
  ) async throws {
    let outcome = try await exchange(wire, pieces: [wire.bytes + WireCase.follower])
    expect(outcome, of: wire)
  }

  /// The result must not depend on how the network splits the bytes.
  @Test(arguments: WireCase.all.filter { $0.bytes.count < 600 })
  func `malformed bytes that arrive one by one are refused as well`(wire: WireCase) async throws {
    let outcome = try await exchange(wire, pieces: (wire.bytes + WireCase.follower).map { [$0] })
    expect(outcome, of: wire)
  }

  @Test func `the table of malformed requests has at least 150 cases with distinct names`() {
    #expect(WireCase.all.count >= 150)
    #expect(Set(WireCase.all.map(\.name)).count == WireCase.all.count)
  }

  private struct Outcome: Sendable {
    let responses: [TestResponse]
    let seen: [RecordingServer.Seen]
  }

  private func exchange(_ wire: WireCase, pieces: [[UInt8]]) async throws -> Outcome {
    let result = await offPool {
      Result<Outcome, any Error> {
        var configuration = ServerConfiguration()
        configuration.bodyBytes = 100_000
        let server = try RecordingServer(configuration: configuration)
        defer { server.stop() }
        let connection = try WireConnection(server.address)
        for piece in pieces { try connection.send(piece) }
        // Waits for the end of the connection. A connection that stays open fails here.
        var rest = try connection.rest()
        var responses: [TestResponse] = []
        while let response = try TestResponse.take(from: &rest, toHead: false, isEnded: true) {
          responses.append(response)
        }
        guard rest.isEmpty else {
          throw WireError("bytes after the responses: \(String(decoding: rest, as: UTF8.self))")
        }
        return Outcome(responses: responses, seen: server.seen)
      }
    }
    return try result.get()
  }

  private func expect(_ outcome: Outcome, of wire: WireCase) {
    let statuses = outcome.responses.map(\.status)
    switch wire.outcome {
    case .refused(let status):
      #expect(statuses == [status])
      #expect(outcome.seen.isEmpty)
      #expect(outcome.responses.first?.header("Connection") == "close")
    case .served(let count):
      #expect(statuses == Array(repeating: 200, count: count + 1))
      #expect(outcome.seen.count == count + 1)
      #expect(outcome.seen.last?.target == "/smuggled")
    case .servedLast:
      #expect(statuses == [200])
      #expect(outcome.seen.count == 1)
      #expect(outcome.seen.first?.target == "/case")
    }
  }
}
