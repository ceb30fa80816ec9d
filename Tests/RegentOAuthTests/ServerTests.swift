import RegentJSON
import Testing

@testable import RegentOAuth

@Suite struct `A box as a client` {
  @Test func `asks at the interval, slower for good when told so, and less often while nobody answers`() {
    var schedule = PollSchedule(seconds: 5)
    #expect(schedule.interval == 5_000)
    #expect(schedule.afterPending() == 5_000)
    #expect(schedule.afterSlowDown() == 10_000)
    #expect(schedule.afterPending() == 10_000)
    #expect([schedule.afterFailure(), schedule.afterFailure(), schedule.afterFailure()] == [20_000, 40_000, 60_000])
    for _ in 0..<100 { #expect(schedule.afterFailure() == 60_000) }
    #expect(schedule.afterPending() == 10_000)
    // What a hostile server asks for stays a pause.
    var hostile = PollSchedule(seconds: .max)
    for _ in 0..<1_000 { _ = hostile.afterSlowDown() }
    #expect(hostile.afterFailure() == 3_600_000)
    #expect(PollSchedule(seconds: .min).interval == 1_000)
  }

  @Test func `looks for documents below the issuer and beside its path`() {
    #expect(
      DiscoveredServer.documents(of: "https://login.example.org/realms/tv/") == [
        "https://login.example.org/realms/tv/.well-known/openid-configuration",
        "https://login.example.org/.well-known/oauth-authorization-server/realms/tv",
      ])
    for issuer in ["http://login.example.org", "https://login.example.org/?x", "https://login.example.org/#x", "tv"] {
      #expect(DiscoveredServer.documents(of: issuer).isEmpty, "\(issuer)")
    }
  }

  @Test func `shows its secret in the header, and in the body where a server knows nothing else`() throws {
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
