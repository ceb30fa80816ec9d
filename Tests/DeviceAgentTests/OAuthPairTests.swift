import RegentJSON
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `regent oauth pair` {
  @Test func `one program at a time pairs a sign-in, and a box that is signed in shows no code`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      let first = try box.start(["oauth", "pair", "tv", "--json"])
      _ = try await box.code(in: "out")
      let second = try await box.run(["oauth", "pair", "tv", "--json"])
      #expect(second.status != 0)
      #expect((second.outputText + second.errorText).contains("busy"), "\(second.outputText)\(second.errorText)")
      first.signal(15)
      _ = try await eventually("the end of the first") { first.poll() }
      try await box.pairOAuth(service)
      let again = try await box.run(["oauth", "pair", "tv", "--json"])
      #expect(again.status == 0)
      #expect(try JSONValue(reading: again.output)["event"]?.string == "authenticated")
    }
  }

  @Test func `the newest file of a sign-in is a lower bound of the clock`() throws {
    try withTemporaryFolder { folder in
      let files = OAuthFolder("tv", in: folder)
      try files.create()
      #expect(files.newestTime == 0)
      try writeFile("\(folder)/oauth/tv/client", "{}".utf8)
      let now = Clocks.wallMilliseconds()
      #expect((now - 60_000...now).contains(files.newestTime))
    }
  }
}
