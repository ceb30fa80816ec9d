import RegentJSON
import Testing

@testable import RegentOAuth

@Suite struct `A box as an OAuth client` {
  @Test func `a box polls at the interval, slows down for good when told so, and backs off after failures`() {
    var schedule = PollSchedule(seconds: 5)
    #expect(schedule.interval == 5_000)
    #expect(schedule.afterPending() == 5_000)
    #expect(schedule.afterSlowDown() == 10_000)
    #expect(schedule.afterPending() == 10_000)
    #expect([schedule.afterFailure(), schedule.afterFailure(), schedule.afterFailure()] == [20_000, 40_000, 60_000])
    for _ in 0..<100 { #expect(schedule.afterFailure() == 60_000) }
    #expect(schedule.afterPending() == 10_000)
    // Even a hostile server cannot make the pause longer than an hour.
    var hostile = PollSchedule(seconds: .max)
    for _ in 0..<1_000 { _ = hostile.afterSlowDown() }
    #expect(hostile.afterFailure() == 3_600_000)
    #expect(PollSchedule(seconds: .min).interval == 1_000)
  }

  @Test func `a server with long polling is asked at once, and again after each long poll`() throws {
    var schedule = PollSchedule(seconds: 5, holds: true)
    #expect(schedule.first == 0)
    #expect(schedule.afterPending(.seconds(20)) == 0)
    // A server that announces long polling and responds at once is polled.
    #expect(schedule.afterPending(.milliseconds(999)) == 5_000)
    #expect(schedule.afterSlowDown() == 10_000)
    #expect(schedule.afterPending(.seconds(20)) == 0)
    #expect(schedule.afterFailure() == 20_000)
    // A slow response of a server without long polling does not count as a long poll.
    var other = PollSchedule(seconds: 5)
    #expect(other.first == 5_000 && other.afterPending(.seconds(20)) == 5_000)

    func holds(_ wait: JSONValue?) throws -> Bool {
      var object = ServerMetadata(issuer: "https://a.example/oauth", hasRegistration: false).json
      object["token_endpoint_longest_wait"] = wait ?? object["token_endpoint_longest_wait"]
      return try DiscoveredServer(object, askedFor: "https://a.example/oauth").holdsQuestions
    }
    #expect(try holds(nil))
    for other: JSONValue in [0, -1, "55", .null, true] { #expect(try !holds(other)) }
  }

  @Test func `discovery documents are looked for below the issuer and beside its path`() {
    #expect(
      DiscoveredServer.documents(of: "https://login.example.org/realms/tv/") == [
        "https://login.example.org/realms/tv/.well-known/openid-configuration",
        "https://login.example.org/.well-known/oauth-authorization-server/realms/tv",
      ])
    for issuer in ["http://login.example.org", "https://login.example.org/?x", "https://login.example.org/#x", "tv"] {
      #expect(DiscoveredServer.documents(of: issuer).isEmpty, "\(issuer)")
    }
  }

  @Test func `a client sends its secret in the header, and in the body where the server supports only that`() throws {
    func method(_ methods: JSONValue?) throws -> ClientMethod {
      var object: JSONObject = [
        "issuer": "https://a.example", "token_endpoint": "https://a.example/t",
        "device_authorization_endpoint": "https://b.example/d",
      ]
      object["token_endpoint_auth_methods_supported"] = methods
      return try DiscoveredServer(object, askedFor: "https://a.example").secretMethod
    }
    #expect(try method(nil) == .basic)
    #expect(try method(["client_secret_post", "client_secret_basic"]) == .basic)
    #expect(try method(["client_secret_post"]) == .post)
  }
}
