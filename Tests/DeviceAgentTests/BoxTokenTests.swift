import RegentJSON
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Tokens from a service` {
  @Test func `a denied token names the resource, the provider's text and the next step`()
    async throws
  {
    try await withSignedInBox { box, service in
      try await service.entitle("ppv", .deny(message: "Not in your package"))
      let told = try await box.run(["authorize", "ppv"])
      #expect(told.status == 4)
      #expect(told.errorText.contains("\"ppv\" may not be watched: Not in your package\n"))
      #expect(told.errorText.contains("the provider's rules do not allow this title"))
      #expect(told.errorText.contains("regentctl why BOX ppv (regentctl device list shows BOX)"))
      // Without a rule there is no reason to report.
      let untold = try await box.run(["token", "channel-9", "--json"])
      #expect(untold.status == 4)
      let error = try JSONValue(reading: Array(untold.errorText.utf8))["error"]
      #expect(error?["code"]?.string == "not-authorized")
      #expect(error?["message"]?.string == "\"channel-9\" may not be watched")
    }
  }

  @Test func `authorize --verify says that the token was verified, besides the token`() async throws {
    try await withSignedInBox { box, service in
      try await service.entitle("news", .allow)
      let told = try await box.run(["authorize", "news", "--verify"])
      #expect(told.status == 0, "\(told.errorText)")
      #expect(told.outputText.split(separator: "\n").count == 1, "the token alone")
      let words = /regent: verified: signed with key \S+, for news, good until 2\S+Z\n/
      #expect(told.errorText.wholeMatch(of: words) != nil, "\(told.errorText)")
      let document = try JSONValue(
        reading: try await box.run(["authorize", "news", "--verify", "--json"]).output)
      #expect(document["verified"]?.bool == true)
      let unverified = try await box.run(["authorize", "news", "--json"])
      #expect(try JSONValue(reading: unverified.output)["verified"] == nil)
      #expect(unverified.errorText.isEmpty)
    }
  }

  @Test func `tokens are still available after the box got another key pair and the first was revoked`()
    async throws
  {
    try await withSignedInBox { box, service in
      try await service.entitle("news", .allow)
      try await service.service.addKey("laterKey", "another secret")
      let changed = try Box(
        box.folder, service.url, more: ["REGENT_PUBLIC_KEY": "laterKey"])
      try writeFile("\(box.folder)/secret", "another secret".utf8)
      try await service.revokeFirstKey()
      let told = try await changed.run(["doctor"])
      #expect(told.status == 0, "\(told.outputText)")
      #expect(told.outputText.contains("key pair laterKey"))
      #expect(told.outputText.contains("signed in with Sample TV"))
      #expect(try await changed.run(["authorize", "news", "--verify"]).status == 0)
      let old = try await box.run(["providers"])
      #expect(old.status == 1, "the first key counts no more: \(old.errorText)")
    }
  }

  @Test func `a box whose account is disabled says so in every command and on the screen, until it is enabled again`()
    async throws
  {
    try await withSignedInBox { box, service in
      try await service.entitle("news", .allow)
      try await service.service.disable(Sample.account)
      let sentence = "not signed in: the account is disabled at the provider"
      let hint = "ask the TV provider to enable the account, or sign in with another account: regent pair"
      for command in [["status"], ["authorize", "news"], ["metadata", "zip"], ["preauthorize", "news"], ["doctor"]] {
        let told = try await box.run(command)
        #expect(told.status == (command == ["doctor"] ? 1 : 3), "\(command)")
        let text = told.outputText + told.errorText
        #expect(text.contains(sentence) && text.contains(hint), "\(command): \(text)")
        #expect(!text.contains("signing in again will not help"), "\(command): one sentence is enough")
      }
      let status = try JSONValue(reading: try await box.run(["status", "--json"]).output)
      #expect(status["signedIn"]?.bool == false)
      #expect(status["accountDisabled"]?.bool == true)
      let failed = try await box.run(["authorize", "news", "--json"])
      #expect(try JSONValue(reading: Array(failed.errorText.utf8))["error"]?["code"]?.string == "not-signed-in")
      // The screen still shows a code, because the viewer may sign in with another account.
      let pairing = try box.start(["pair", "--json"], output: "pair")
      let notice = try await box.event("error", in: "pair")
      #expect(notice["message"]?.string == sentence)
      let code = try #require(try await box.event("code", in: "pair")["code"]?.string)
      pairing.signal(15)
      _ = try await eventually("the end") { pairing.poll() }
      try await service.service.disable(Sample.account, false)
      #expect(try await box.run(["status"]).status == 0, "signed in again without a code, \(code) was not used")
    }
  }

  private func withSignedInBox(_ body: (Box, BoxService) async throws -> Void) async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { program.poll() } == 0)
      try await body(box, service)
    }
  }
}
