import RegentPlatform
import PlayerExample
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

@Suite("The documentation's example player", .regentd)
struct ExampleTests {
  @Test func `the example player signs in on a phone and plays`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let settings = PlayerSettings(
        service: live.url, requestor: live.requestor, publicKey: live.publicKey,
        secret: live.secret, folder: "\(folder)/player")
      let (lines, screen) = AsyncStream<String>.makeStream()
      let playing = Task { await play("news", settings) { screen.yield($0) } }
      let last = try await lines.first("the player plays") { line -> String? in
        if let code = line.split(separator: "type ").last, line.hasPrefix("Open ") {
          try await live.approve(String(code))
        }
        return line.hasPrefix("Playing") ? line : nil
      }
      let token = try await playing.value("the token")
      #expect(token?.hasPrefix("PHNpZ25hdHVyZUluZm8+") == true)
      #expect(last == "Playing news")
      // The second run needs no sign-in.
      #expect(await play("sports", settings) { _ in } != nil)
      #expect(await play("movies", settings) { screen.yield($0) } == nil)
    }
  }
}
