import AccessEnabler
import CommandKit
import RegentPlatform
import TestSupport
import Testing

@testable import DeviceAgent

@Suite("Platform account: decisions shared with the service")
struct DecisionSyncTests {
  private static let kodi = AppRequestor(app: "kodi", requestor: "acme")
  private static let video = AppRequestor(app: "video", requestor: "acme")

  @Test func `a decision at the service takes effect on the box, is stored, and is reported to waiting apps`()
    async throws
  {
    try await withScreens { screens, store, sync, folder in
      let heard = Locked<[AppRequestor]>([])
      await sync.onNews { changed in heard.withLock { $0 += changed } }
      await sync.begin()
      await screens.decide([Self.kodi: .granted])
      try await eventually("the grant") { store.permission(of: Self.kodi) == .granted }
      #expect(try PermissionStore(folder: folder).permission(of: Self.kodi) == .granted)
      await screens.decide([Self.kodi: .denied])
      try await eventually("the denial") { store.permission(of: Self.kodi) == .denied }
      await screens.decide([Self.kodi: .undetermined])
      try await eventually("the reset") { store.permission(of: Self.kodi) == .undetermined }
      try await eventually("that all is told") {
        heard.withLock { $0 } == [Self.kodi, Self.kodi, Self.kodi]
      }
      #expect(store.untold.isEmpty, "what came from there is not told back")
    }
  }

  @Test func `a decision made during an outage is sent to the service later, also after a restart`() async throws {
    try await withScreens { screens, store, sync, folder in
      await screens.setAway(true)
      try store.decide(.denied, Self.kodi)
      await sync.tell()
      try await eventually("a first attempt") { await screens.attempts > 0 }
      await sync.stop()
      let again = try PermissionStore(folder: folder)
      #expect(again.untold.map(\.who) == [Self.kodi])
      await screens.setAway(false)
      let next = DecisionSync(again, screens)
      await next.tell()
      try await eventually("that it is told") { again.untold.isEmpty }
      #expect(await screens.told.map(\.word) == [.permission(.denied)])
      #expect(try PermissionStore(folder: folder).untold.isEmpty)
      #expect(again.permission(of: Self.kodi) == .denied)
    }
  }

  @Test func `an older list from the service does not override a later decision on the box`() throws {
    try withTemporaryFolder { folder in
      let store = try PermissionStore(folder: folder)
      try store.decide(.granted, Self.kodi)
      let asOf = store.revision
      try store.decide(.denied, Self.kodi)
      #expect(try store.takeOver([Self.kodi: .granted, Self.video: .denied], asOf: asOf) == [Self.video])
      #expect(store.permission(of: Self.kodi) == .denied, "it is not told yet")
      store.told(try #require(store.untold.first))
      #expect(store.untold.isEmpty)
      #expect(try store.takeOver([Self.kodi: .granted], asOf: asOf) == [])
      #expect(store.permission(of: Self.kodi) == .denied, "the list is from before it was told")
      #expect(try store.takeOver([Self.kodi: .granted], asOf: store.revision) == [Self.kodi])
    }
  }

  @Test func `a decision that cannot be written does not take effect and is fetched again`() async throws {
    try await withScreens { screens, store, sync, folder in
      try PrivateDirectory.ensure("\(folder)/permissions")
      await screens.decide([Self.kodi: .granted])
      await sync.begin()
      try await eventually("two questions without a tag") { await screens.untagged >= 2 }
      #expect(store.permission(of: Self.kodi) == .undetermined)
      try PrivateDirectory.remove("\(folder)/permissions")
      try await eventually("the grant", within: 60) { store.permission(of: Self.kodi) == .granted }
    }
  }

  @Test func `a service that refuses is not asked again at once`() async throws {
    try await withScreens { screens, store, sync, _ in
      await screens.refuse()
      try store.decide(.granted, Self.kodi)
      await sync.begin()
      try await eventually("one question, and one decision told") {
        let (questions, attempts) = (await screens.questions, await screens.attempts)
        return questions == 1 && attempts == 1
      }
      for _ in 0..<100 { await sync.begin() }
      #expect(await screens.questions == 1)
      #expect(store.permission(of: Self.kodi) == .granted && store.untold.count == 1)
    }
  }

  @Test func `a sign-in that ends at the service ends on the box at once through the long poll`() async throws {
    try await withScreens { screens, _, sync, _ in
      let ends = Locked(0)
      await sync.onNews { _ in
      } end: {
        ends.withLock { $0 += 1 }
      }
      await sync.begin()
      try await eventually("a held call") { await screens.isHeld }
      await screens.endSignIn()
      try await eventually("the end") { ends.withLock { $0 } == 1 }
      #expect(try await sync.current() == nil)
      // Without a sign-in the service is not asked.
      let questions = await screens.questions
      await sync.begin()
      #expect(await screens.questions == questions && ends.withLock { $0 } == 1)
    }
  }

  @Test func `a box whose sign-in the service refuses asks once whether it is signed in`() async throws {
    try await withScreens { screens, _, sync, _ in
      await screens.endSignIn(isKept: true)
      await sync.begin()
      try await eventually("a look") { await screens.looks == 1 }
      for _ in 0..<100 { await sync.begin() }
      let (questions, looks) = (await screens.questions, await screens.looks)
      #expect(questions == 1 && looks == 1)
    }
  }

  @Test func `a new sign-in does not wait for the pause after the previous one's refusal`() async throws {
    try await withScreens { screens, store, sync, _ in
      await screens.endSignIn(isKept: true)
      await sync.begin()
      try await eventually("a look") { await screens.looks == 1 }
      // Another process signs in; the next request finds the sign-in.
      await screens.signIn()
      await screens.decide([Self.kodi: .denied])
      _ = try await sync.current()
      try await eventually("the denial") { store.permission(of: Self.kodi) == .denied }
    }
  }

  @Test func `an account that is switched on again is usable when an app asks`() async throws {
    try await withScreens { screens, _, sync, _ in
      await screens.switchOff()
      #expect(try await sync.current() == nil)
      try await eventually("a look") { await screens.looks == 1 }
      // Repeated requests within seconds cause no call.
      for _ in 0..<10 { #expect(try await sync.current() == nil) }
      #expect(await screens.looks == 1)
      await screens.switchOn()
      await sync.lookAgain()
      #expect(await screens.looks == 1, "a crowd that asks is no storm of calls")
    }
    try await withScreens { screens, _, sync, _ in
      await screens.switchOff()
      await screens.switchOnWithNextLook()
      await sync.lookAgain()
      let found = try await sync.current()
      #expect(found != nil)
    }
  }

  @Test func `the reason for a refusal is kept until the service accepts again`() async throws {
    try await withScreens { screens, _, sync, _ in
      await screens.refuse()
      await sync.begin()
      try await eventually("the reason") { await sync.refusal == "the service wants none of it" }
      await screens.refuse(false)
      await sync.beginAnew()
      try await eventually("no reason") { await sync.refusal == nil }
    }
  }

  @Test func `the age of a decision allows for a clock that was set`() {
    func age(_ permission: PlatformPermission, _ decided: Int64, at now: Int64) -> Duration {
      UntoldDecision(who: Self.kodi, permission: permission, decided: decided).age(at: now)
    }
    let now: Int64 = 1_800_000_000_000
    #expect(age(.granted, now - 60_000, at: now) == .seconds(60))
    #expect(age(.denied, now - 60_000, at: now) == .seconds(60))
    #expect(age(.granted, now + 60_000, at: now) == .zero, "a clock that went back")
    // Decided before the clock was set: a denial counts as new, a grant as old, so that it overrides nothing.
    #expect(age(.denied, 5_000, at: now) == .zero)
    #expect(age(.granted, 5_000, at: now) == .milliseconds(now - 5_000))
    #expect(age(.granted, 5_000, at: 65_000) == .seconds(60), "never set: the difference is right still")
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"permissions":1}"#, #"{"permissions":[{"app":"kodi","requestor":"acme"}]}"#,
    #"{"permissions":[{"app":"kodi","requestor":"acme","permission":"granted"},{"app":"-x","requestor":"a","permission":"denied"}]}"#,
    #"{"permissions":[{"app":"kodi","requestor":"acme","permission":"always"}]}"#,
  ])
  func `a list of decisions that is malformed is ignored as a whole`(text: String) {
    #expect(ServiceDecisions(reading: Array(text.utf8), tag: "x") == nil)
  }

  @Test func `a list of decisions without a tag is ignored`() throws {
    let text = #"{"permissions":[{"app":"kodi","requestor":"acme","permission":"denied","decided":1}]}"#
    #expect(ServiceDecisions(reading: Array(text.utf8), tag: nil) == nil)
    let list = try #require(ServiceDecisions(reading: Array(text.utf8), tag: "\"1\""))
    #expect(list.decisions == [Self.kodi: .denied])
  }

  private func withScreens(
    _ body: (Screens, PermissionStore, DecisionSync, String) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let (screens, store) = (Screens(), try PermissionStore(folder: folder))
      let sync = DecisionSync(store, screens, askPause: .seconds(3_600))
      try await body(screens, store, sync, folder)
      await sync.stop()
      // Releases the calls that still wait.
      await screens.decide([:])
    }
  }
}

/// A service that holds the decisions for a box.
private actor Screens: BoxAccount {
  private var list: [AppRequestor: PlatformPermission] = [:]
  private var version = 0
  private var isAway = false
  private var refuses = false
  private var hasEnded = false
  private var isSwitchedOff = false
  private var isSwitchedOnByLook = false
  private var isKept = true
  private var expires: Int64 = 1
  private(set) var looks = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private(set) var told: [BoxDecision] = []
  private(set) var attempts = 0
  private(set) var questions = 0
  private(set) var untagged = 0

  func decide(_ decisions: [AppRequestor: PlatformPermission]) {
    list.merge(decisions) { _, new in new }
    version += 1
    for one in waiting { one.resume() }
    waiting = []
  }

  func setAway(_ isAway: Bool) { self.isAway = isAway }
  func refuse(_ refuses: Bool = true) { self.refuses = refuses }

  /// Switches the account off at the service, which the box has noticed.
  func switchOff() { isSwitchedOff = true }
  func switchOn() { isSwitchedOff = false }
  func switchOnWithNextLook() { isSwitchedOnByLook = true }

  func tell(_ decision: BoxDecision) async throws(CommandError) {
    attempts += 1
    try check()
    told.append(decision)
  }

  func decisions(unless tag: String?, wait: Duration) async throws(CommandError) -> ServiceDecisions? {
    questions += 1
    if tag == nil { untagged += 1 }
    try check()
    if tag == "\(version)" {
      await withCheckedContinuation { waiting.append($0) }
      try check()
    }
    return ServiceDecisions(decisions: list, tag: "\(version)")
  }

  var isHeld: Bool { !waiting.isEmpty }

  /// Ends the sign-in at the service.
  ///
  /// Unless `isKept`, the box also loses its stored sign-in at the next check.
  func endSignIn(isKept: Bool = false) {
    hasEnded = true
    self.isKept = isKept
    decide([:])
  }

  func signIn() {
    hasEnded = false
    expires += 1
  }

  func lookAgain() async -> Bool {
    looks += 1
    if isSwitchedOnByLook { isSwitchedOff = false }
    return true
  }

  private func check() throws(CommandError) {
    if hasEnded { throw CommandError("nobody is signed in", code: "not-signed-in", exit: .notSignedIn) }
    if isAway { throw CommandError("nobody answers", code: "unreachable", exit: .unreachable) }
    if refuses { throw CommandError("the service wants none of it", code: "service") }
  }

  func kept() async throws(CommandError) -> SignInFacts? {
    guard isKept || looks == 0, !isSwitchedOff else { return nil }
    return SignInFacts(provider: "CABLE", providerName: "Cable", user: "u", expires: expires, source: "regular")
  }
  func picker() async throws(CommandError) -> [ProviderEntry] { [] }
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> String { "" }
  func signOut() async throws(CommandError) -> SignOutEnd { .wasNotSignedIn }
}
