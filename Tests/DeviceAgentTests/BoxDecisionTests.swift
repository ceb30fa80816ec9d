import AccessEnabler
import PairingService
import PairingStore
import PlayerExample
import RegentJSON
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

/// The viewer's decisions about apps, made on the phone or on the box, between real programs.
@Suite(.enabled(if: Accounts.effectiveUser == 0 && installedProgram("setpriv") != nil))
struct `Decisions on the phone and on the box` {
  @Test func `a decision on the phone reaches the box and the other way round, also after either was offline`()
    async throws
  {
    try await withPlatformBox(
      "app = one user:\(AppUser.first) requestor:REF30", "app = two user:\(AppUser.second) requestor:REF30"
    ) {
      (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.ask("status", as: AppUser.first)["permission"] == "undetermined")
      try await eventually("that the box listens") { box.service.service.core.waiters.count == 1 }
      // As the phone's page "my screens" does it.
      try await box.decideOnPhone("one", true)
      try await eventually("the grant") { try await box.permission(of: AppUser.first) == "granted" }
      try await box.decideOnPhone("one", false)
      try await eventually("the denial") { try await box.permission(of: AppUser.first) == "denied" }
      // The box is off and fetches the decisions at its next start.
      try await box.stop(signal: 9)
      try await box.decideOnPhone("one", nil)
      try await box.decideOnPhone("two", true)
      try await box.start()
      try await eventually("what was decided meanwhile") {
        let (first, second) = (
          try await box.permission(of: AppUser.first), try await box.permission(of: AppUser.second)
        )
        return first == "undetermined" && second == "granted"
      }
      // An app's question also appears on the phone.
      let question = box.held(#""prompt":true,"#, wait: 20)
      async let asked = question.ask("access", as: AppUser.first)
      try await eventually("the question on the phone") { try await box.decisionsAtService()["one"] == .some(nil) }
      try await box.decideOnPhone("one", true)
      #expect(try await asked["permission"] == "granted")
      // A decision on the box reaches the phone.
      #expect(try await box.run(["sso", "deny", "two"]).status == 0)
      try await eventually("the denial on the phone") { try await box.decisionsAtService()["two"] == false }
    }
  }

  @Test func `the box's key must sign a decision, so that its device id and the maker's key pair do not suffice`()
    async throws
  {
    try await withPlatformBox("app = one user:\(AppUser.first) requestor:REF30") { (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "deny", "one"]).status == 0)
      try await eventually("the box's denial") { try await box.decisionsAtService()["one"] == false }
      #expect(try await box.decideAsStranger("one", "granted") == "403")
      #expect(try await box.decideAsStranger("two", "granted") == "403")
      #expect(try await box.decisionsAtService() == ["one": false])
      // A second sign-in makes a second key.
      #expect(try await box.run(["sso", "sign-out"]).status == 0)
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "one"]).status == 0)
      try await eventually("the box's grant") { try await box.decisionsAtService()["one"] == true }
      #expect(try await box.decideAsStranger("one", "denied") == "403")
    }
  }

  @Test(.enabled(if: clockLibrary != nil, "no libfaketime here, or ThreadSanitizer"), arguments: ["-2d", "+2d"])
  func `a box with a wrong clock signs its decisions with the time of the service`(clock: String) async throws {
    try await withPlatformBox(
      "app = one user:\(AppUser.first) requestor:REF30",
      environment: [
        "LD_PRELOAD": clockLibrary ?? "", "FAKETIME": clock, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
      ]
    ) { (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "one"]).status == 0)
      try await eventually("the grant") { try await box.decisionsAtService()["one"] == true }
      // The daemon knows no time of the service after a restart.
      try await box.stop(signal: 9)
      try await box.start()
      #expect(try await box.run(["sso", "deny", "one"]).status == 0)
      try await eventually("the denial") { try await box.decisionsAtService()["one"] == false }
    }
  }

  @Test func `the documentation's player signs in by the box's account and asks the viewer to sign the box out`()
    async throws
  {
    try await withPlatformBox("app = player user:0 requestor:REF30") { (box: PlatformBox) async throws in
      try await box.signIn()
      let settings = PlayerSettings(
        service: box.service.url, requestor: Sample.requestor, publicKey: Sample.publicKey,
        secret: Sample.secret, folder: "\(box.folder)/player",
        account: .socket(box.socket))
      let shown = Locked<[String]>([])
      async let played = play("news", settings) { line in shown.withLock { $0.append(line) } }
      try await eventually("the question") { try await box.decisionsAtService()["player"] == .some(nil) }
      try await box.decideOnPhone("player", true)
      let token = await played
      #expect(token != nil && shown.withLock { $0.last } == "Playing news", "\(shown.withLock { $0 })")
      // At the next start the player is signed in without a question.
      #expect(await play("news", settings) { _ in } != nil)
      async let out: Void = signOut(settings) { line in shown.withLock { $0.append(line) } }
      let prompts = try box.startPrompts()
      defer { prompts.signal(9) }
      try await eventually("the question") { box.text("prompts").contains(#""question":"sign-out""#) }
      #expect(try await box.run(["sso", "sign-out"]).status == 0)
      try await out
      #expect(shown.withLock { $0.last } == "Signed out")
    }
  }

  @Test func `an app without access can ask the viewer to sign the box out`() async throws {
    try await withPlatformBox("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      try await box.signIn()
      let account = try #require(PlatformAccount(requestor: "REF30", at: .socket(box.socket)))
      #expect(try await account.askToSignOut(wait: .seconds(20)), "an app that may not use the account is out")
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      async let answer = account.askToSignOut(wait: .seconds(20))
      let prompts = try box.startPrompts()
      defer { prompts.signal(9) }
      try await eventually("the question") { box.text("prompts").contains(#""question":"sign-out""#) }
      #expect(try await box.run(["sso", "sign-out"]).status == 0)
      #expect(try await answer, "the box is signed out")
      #expect(try await account.askToSignOut(wait: .seconds(20)), "and stays so")
    }
  }
}
