import HTTPServer
import HTTPTestSupport
import RegentHTTPCodec
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// A short outage: the service restarts, or its node is killed behind a load balancer.
@Suite struct `Calls during a short outage of the service` {
  /// Answers a number of requests in the service's place.
  private final class Gate: Sendable {
    private let state = Locked<(times: Int, answer: @Sendable () -> Response)>((0, { Response(.ok) }))

    func close(_ times: Int, _ answer: @escaping @Sendable () -> Response) { state.withLock { $0 = (times, answer) } }

    func answer() -> Response? {
      let answer = state.withLock { state -> (@Sendable () -> Response)? in
        guard state.times > 0 else { return nil }
        state.times -= 1
        return state.answer
      }
      return answer?()
    }

    /// How many more requests it will answer.
    var left: Int { state.withLock { $0.times } }
  }

  /// The calls that every app makes, one after the other.
  private static let questions: [@Sendable (AccessEnabler) async throws -> Void] = [
    { _ = try await $0.configure(requestor: Sample.requestor) },
    { _ = try await $0.authorize("news") },
    { _ = try await $0.preauthorize(["news", "sport"]) },
  ]

  private static let away: [@Sendable () -> Response] = [
    { Response.text(.serviceUnavailable, "no node is there") }, { Response(.badGateway) },
    { Response(.gatewayTimeout) },
    {
      var response = Response(.serviceUnavailable)
      response.addHeader(.retryAfter, "1")
      return response
    },
  ]

  @Test func `a call is repeated during an outage, each time with a new signature`() async throws {
    let gate = Gate()
    let signatures = Locked<[String]>([])
    let live = try await LocalService(gate: { request in
      signatures.withLock { $0.append(request.header(.authorization).map(String.init(describing:)) ?? "") }
      return gate.answer()
    })
    let enabler = try await live.enabler()
    try await live.signIn(enabler)
    for answer in Self.away {
      for ask in Self.questions {
        gate.close(answer().header(.retryAfter) == nil ? 3 : 1, answer)
        try await ask(enabler)
        #expect(gate.left == 0)
      }
    }
    let seen = signatures.withLock { $0 }
    #expect(Set(seen).count == seen.count)
    await live.kill()
  }

  @Test func `a request for a code is repeated during an outage and the sign-in succeeds`() async throws {
    let gate = Gate()
    let live = try await LocalService(gate: { request in request.method == .post ? gate.answer() : nil })
    let enabler = try await live.enabler()
    gate.close(2, Self.away[0])
    try await live.signIn(enabler)
    #expect(gate.left == 0)
    await live.kill()
  }

  @Test func `a call waits for a service that restarts`() async throws {
    let live = try await LocalService()
    let enabler = try await live.enabler()
    try await live.signIn(enabler)
    await live.kill()
    let answer = Task { try await enabler.authorize("news") }
    try await pass(milliseconds: 400)
    try await live.startAgain()
    #expect(try await answer.value("the permit").resource == "news")
    await live.kill()
  }

  @Test func `a call fails when the outage or the pause that the service asks for exceeds the retry time`()
    async throws
  {
    let gate = Gate()
    let live = try await LocalService(gate: { _ in gate.answer() })
    let enabler = try await live.enabler { $0.timing.silence = .seconds(3) }
    try await live.signIn(enabler)
    func count(_ answer: @escaping @Sendable () -> Response) async -> Int {
      gate.close(1_000, answer)
      await #expect(throws: EntitlementError.self) { _ = try await enabler.authorize("news") }
      return 1_000 - gate.left
    }
    #expect((2...6).contains(await count(Self.away[0])))
    func busy(_ seconds: String) -> @Sendable () -> Response {
      {
        var response = Response(.serviceUnavailable)
        response.addHeader(.retryAfter, seconds)
        return response
      }
    }
    // Whatever random length the pauses have, the last attempt is made at the end of the period.
    #expect(await count(busy("1")) >= 2)
    #expect(await count(busy("5")) == 1)
    #expect(await count { Response(.internalServerError) } == 1)
    gate.close(0) { Response(.ok) }
    #expect(try await enabler.authorize("news").resource == "news")
    await live.kill()
  }
}
