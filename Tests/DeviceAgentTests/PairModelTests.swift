import AccessEnabler
import CommandKit
import RegentPlatform
import Testing

@testable import DeviceAgent

private let failure = AgentFailure(
  code: "unreachable", message: "no", hint: nil, trouble: .offline(host: "tv.example.org"))

private func code(_ name: String = "BCDFGHJK", deadline: Int64 = 1_800_000) -> ShownCode {
  ShownCode(
    code: name, display: name, address: "tv.example.org", link: "HTTPS://TV.EXAMPLE.ORG/D/\(name)",
    expires: 0, deadline: deadline, lifetime: 1_800_000)
}

@Suite struct `State machine of pairing` {
  private var model = PairModel(mode: .attended)

  @Test func `pairing goes from the code to signed in and ends after a moment`() {
    var model = model
    #expect(model.start(now: 0) == [.requestCode(provider: nil)])
    #expect(model.handle(.link(.code(code())), now: 10) == [.tell(.code(code()))])
    #expect(model.view.stage == .waiting(code()))
    #expect(model.handle(.link(.opened), now: 20) == [.tell(.opened)])
    #expect(model.handle(.link(.opened), now: 21) == [], "told once")
    #expect(model.handle(.link(.match(42)), now: 30) == [.tell(.match(42))])
    #expect(model.view.stage == .number(code(), 42))
    #expect(
      model.handle(.link(.authenticated(name: "demo", provider: "One")), now: 40)
        == [.tell(.authenticated(name: "demo", provider: "One"))])
    #expect(model.handle(.tick, now: 41) == [])
    #expect(model.handle(.tick, now: 40 + PairModel.farewellTime) == [.end(.done)])
  }

  @Test(arguments: [(PairMode.attended, true), (.once, true), (.unattended, false)])
  func `a box that is already signed in says so and ends`(mode: PairMode, isAtOnce: Bool) {
    var model = PairModel(mode: mode)
    _ = model.start(now: 0)
    let tell = PairEffect.tell(.alreadySignedIn(name: "demo", provider: "One"))
    #expect(
      model.handle(.link(.alreadySignedIn(name: "demo", provider: "One")), now: 1)
        == (isAtOnce ? [tell, .end(.done)] : [tell]))
    #expect(model.view.stage == .signedIn(name: "demo", provider: "One"))
    if !isAtOnce { #expect(model.handle(.tick, now: 1 + PairModel.farewellTime) == [.end(.done)]) }
  }

  @Test func `pair --provider fails on a box that is signed in with another provider, except without a keyboard`() {
    func effects(_ mode: PairMode, _ provider: String?) -> [PairEffect] {
      var model = PairModel(mode: mode, provider: provider)
      _ = model.start(now: 0)
      return model.handle(.link(.alreadySignedIn(name: "demo", provider: "One", id: "one")), now: 1)
    }
    let failure = AgentFailure(
      code: "signed-in-elsewhere", message: "this box is signed in with One, not with two",
      hint: "sign in there instead: regent pair --provider two --force", trouble: .service)
    for mode in [PairMode.attended, .once] {
      #expect(effects(mode, "two") == [.tell(.error(failure)), .end(.failed)])
      #expect(effects(mode, "one").last == .end(.done))
      #expect(effects(mode, nil).last == .end(.done))
    }
    #expect(effects(.unattended, "two") == [.tell(.alreadySignedIn(name: "demo", provider: "One"))])
  }

  @Test(arguments: [
    (PairMode.attended, LinkEvent.denied, [PairEffect.tell(.denied)], PairStage.denied),
    (.once, .denied, [.tell(.denied), .end(.denied)], .denied),
    (.once, .expired, [.tell(.expired), .end(.expired)], .expired),
    (.attended, .expired, [.tell(.expired)], .expired),
    (.unattended, .expired, [.tell(.expired)], .expired),
    (
      .once, .failed(failure), [.tell(.error(failure)), .end(.unreachable)],
      .failed(.offline(host: "tv.example.org"))
    ),
  ])
  func `pairing ends or shows the result as its mode requires`(
    mode: PairMode, event: LinkEvent, effects: [PairEffect], stage: PairStage
  ) {
    var model = PairModel(mode: mode)
    _ = model.start(now: 0)
    _ = model.handle(.link(.code(code())), now: 0)
    #expect(model.handle(.link(event), now: 5) == effects)
    #expect(model.view.stage == stage)
  }

  @Test func `a disabled account is reported once, stays on the screen with the code, and is gone after a sign-in`() {
    var model = PairModel(mode: .unattended)
    _ = model.start(now: 0)
    let failure = AgentFailure(EntitlementError(.accountDisabled), host: "tv.example.org")
    #expect(failure.trouble == .accountDisabled)
    let event = LinkEvent.trouble(failure)
    #expect(LinkEvent(event.document) == event)
    #expect(model.handle(.link(event), now: 1) == [.tell(.error(failure))])
    #expect(model.handle(.link(event), now: 2) == [])
    #expect(model.handle(.link(.code(code())), now: 3) == [.tell(.code(code()))])
    #expect(model.handle(.link(.recovered), now: 4) == [])
    #expect(model.view.isAccountDisabled)
    #expect(model.view.trouble == nil, "the code is not hidden by a trouble")
    _ = model.handle(.link(.authenticated(name: nil, provider: nil)), now: 5)
    #expect(!model.view.isAccountDisabled)
  }

  @Test(arguments: [PairMode.attended, .once, .unattended])
  func `a denial while a number is shown mentions that the wrong number may have been picked`(mode: PairMode) {
    var model = PairModel(mode: mode)
    _ = model.start(now: 0)
    _ = model.handle(.link(.code(code())), now: 0)
    _ = model.handle(.link(.opened), now: 1)
    _ = model.handle(.link(.match(42)), now: 1)
    #expect(model.handle(.link(.denied), now: 2).first == .tell(.deniedAtNumber))
    #expect(model.view.stage == .deniedAtNumber)
    #expect(model.codeForQuitting == .denied)
    #expect(PairEvent.deniedAtNumber.document == PairEvent.denied.document)
    #expect(PairEvent.deniedAtNumber.lines(Texts(.english))[0].contains("wrong number"))
  }

  @Test func `an expired code that a phone has opened is replaced only after time to read the message`() {
    var model = PairModel(mode: .unattended)
    _ = model.start(now: 0)
    _ = model.handle(.link(.code(code())), now: 0)
    _ = model.handle(.link(.opened), now: 1)
    #expect(model.handle(.link(.expired), now: 2) == [.tell(.expired)])
    #expect(model.handle(.tick, now: 3) == [])
    #expect(
      model.handle(.tick, now: 2 + PairModel.readingTime) == [.requestCode(provider: nil)])
  }

  @Test(arguments: [PairMode.attended, .once, .unattended])
  func `a code that was withdrawn before a phone opened it is replaced silently, but not for ever`(
    mode: PairMode
  ) {
    var model = PairModel(mode: mode)
    _ = model.start(now: 0)
    var now: Int64 = 0
    for _ in 1..<CodeBudget.codes {
      _ = model.handle(.link(.code(code())), now: now)
      #expect(model.handle(.link(.withdrawn), now: now + 1) == [])
      #expect(model.view.stage == .starting)
      #expect(model.handle(.tick, now: now + 2) == [], "not at once")
      now += 1 + PairModel.settlingTime
      #expect(model.handle(.tick, now: now) == [.requestCode(provider: nil)])
    }
    _ = model.handle(.link(.code(code())), now: now)
    #expect(model.handle(.link(.withdrawn), now: now + 1).first == .tell(.expired), "not for ever")
  }

  @Test func `a code that was withdrawn while a phone had it open is reported as expired`() {
    var model = model
    _ = model.start(now: 0)
    _ = model.handle(.link(.code(code())), now: 0)
    _ = model.handle(.link(.opened), now: 1)
    #expect(model.handle(.link(.withdrawn), now: 2) == [.tell(.expired)])
  }

  @Test func `an unattended box makes at most twelve codes an hour, then waits for a key or a signal`() {
    var model = PairModel(mode: .unattended)
    var effects = model.start(now: 0)
    var made = 0
    var now: Int64 = 0
    while effects.contains(.requestCode(provider: nil)), made < 50 {
      made += 1
      _ = model.handle(.link(.code(code(deadline: now + 200_000))), now: now)
      now += 200_000
      #expect(model.handle(.tick, now: now) == [.tell(.expired)])
      now += PairModel.settlingTime
      effects = model.handle(.tick, now: now)
    }
    #expect(made == 12)
    #expect(model.view.stage == .resting)
    #expect(model.handle(.tick, now: now + 100) == [])
    var other = model
    #expect(other.handle(.key(.enter), now: now) == [.requestCode(provider: nil)])
    #expect(model.handle(.renew, now: now) == [.requestCode(provider: nil)])
  }

  @Test func `a code expires on the screen also while the service is unreachable`() {
    var model = model
    _ = model.start(now: 0)
    _ = model.handle(.link(.code(code(deadline: 1_000))), now: 0)
    #expect(model.handle(.link(.trouble(failure)), now: 10) == [.tell(.error(failure))])
    #expect(model.view.stage.code != nil && model.view.trouble != nil)
    #expect(model.handle(.link(.trouble(failure)), now: 20) == [], "told once")
    #expect(model.nextDeadline() == 1_000)
    #expect(model.handle(.tick, now: 1_000) == [.tell(.expired)])
    #expect(model.view.stage == .expired)
  }

  @Test func `a provider is chosen with keys, and the code stays valid behind the list`() {
    var model = model
    _ = model.start(now: 0)
    _ = model.handle(.link(.providers(Scene.providers, last: nil)), now: 0)
    _ = model.handle(.key(.character("p")), now: 1)
    _ = model.handle(.link(.code(code())), now: 2)
    guard case .choosing = model.view.stage else { return #expect(Bool(false)) }
    #expect(model.handle(.key(.escape), now: 3) == [])
    #expect(model.view.stage == .waiting(code()))
    _ = model.handle(.key(.character("p")), now: 4)
    for letter in "exit" { _ = model.handle(.key(.character(letter)), now: 5) }
    #expect(model.handle(.key(.enter), now: 6) == [])
    #expect(
      model.handle(.tick, now: PairModel.askingPause) == [.requestCode(provider: "canal")])
  }

  @Test func `a key that is held down makes at most one code a second, and the last press counts`() {
    var model = model
    var asked = model.start(now: 0).count
    for now in Int64(1)...5_000 {
      // The service answers each request at once.
      _ = model.handle(.link(.code(code(deadline: now + 1_800_000))), now: now)
      let effects = now <= 3_500 ? model.handle(.key(.character("n")), now: now) : []
      let due = model.nextDeadline().map { $0 <= now } ?? false
      asked += (effects + (due ? model.handle(.tick, now: now) : [])).count
    }
    #expect(asked == 5, "at 0, 1, 2, 3 and, for the last key, 4 s")
    #expect(model.handle(.renew, now: 9_000) == [.requestCode(provider: nil)])
    #expect(model.handle(.renew, now: 9_001) == [])
    _ = model.handle(.link(.authenticated(name: nil, provider: nil)), now: 9_002)
    #expect(
      !model.handle(.tick, now: 10_001).contains(.requestCode(provider: nil)),
      "whoever is in wants no code any more")
  }

  @Test func `the provider list stays open when the code behind it is replaced`() {
    var model = model
    _ = model.start(now: 0)
    _ = model.handle(.link(.providers(Scene.providers, last: nil)), now: 0)
    _ = model.handle(.link(.code(code())), now: 2)
    _ = model.handle(.key(.character("p")), now: 4)
    #expect(model.handle(.link(.withdrawn), now: 5) == [])
    #expect(
      model.handle(.tick, now: 5 + PairModel.settlingTime) == [.requestCode(provider: nil)])
    guard case .choosing = model.view.stage else { return #expect(Bool(false)) }
    _ = model.handle(.link(.code(code("ZXWVTSRQ"))), now: 2_000)
    _ = model.handle(.key(.escape), now: 2_001)
    #expect(model.view.stage == .waiting(code("ZXWVTSRQ")))
  }

  @Test func `the provider list closes when a phone opens the code`() {
    var model = model
    _ = model.start(now: 0)
    _ = model.handle(.link(.providers(Scene.providers, last: nil)), now: 0)
    _ = model.handle(.link(.code(code())), now: 2)
    _ = model.handle(.key(.character("p")), now: 4)
    #expect(model.handle(.link(.opened), now: 5) == [.tell(.opened)])
    #expect(model.view.stage == .connected(code()))
  }

  @Test(
    arguments: [
      (nil, 3), (LinkEvent.denied, 4), (.expired, 5), (.failed(failure), 6),
      (.authenticated(name: nil, provider: nil), 0),
    ] as [(LinkEvent?, Int32)])
  func `quitting returns the exit code of the last state`(event: LinkEvent?, exit: Int32) {
    var model = model
    _ = model.start(now: 0)
    _ = model.handle(.link(.code(code())), now: 0)
    if let event { _ = model.handle(.link(event), now: 1) }
    #expect(model.handle(.stop, now: 2) == [.end(.init(rawValue: exit))])
  }
}

@Suite struct `The provider picker` {
  @Test func `the picker lists featured providers first and finds names by any part`() {
    var picker = ProviderPicker(Scene.providers)
    #expect(picker.matching.map(\.id) == ["canal", "one", "kt"])
    _ = picker.handle(.character("O"))
    #expect(picker.matching.map(\.id) == ["canal", "one"])
    _ = picker.handle(.character("n"))
    #expect(picker.matching.map(\.id) == ["one"])
    #expect(picker.handle(.enter) == .chosen("one"))
    #expect(picker.handle(.escape) == .stays)
    #expect(picker.query.isEmpty)
    #expect(picker.handle(.escape) == .cancelled)
  }

  @Test func `the selection stays inside the list with any keys`() {
    var picker = ProviderPicker(Scene.providers, last: "kt")
    #expect(picker.handle(.enter) == .chosen("kt"))
    for key in [Key.down, .down, .pageDown, .end, .tab] { _ = picker.handle(key) }
    #expect(picker.handle(.enter) == .chosen("kt"))
    for key in [Key.up, .up, .up, .pageUp, .home, .backTab] { _ = picker.handle(key) }
    #expect(picker.handle(.enter) == .chosen("canal"))
    for _ in 0..<100 { _ = picker.handle(.character("z")) }
    #expect(picker.query.count == 40)
    #expect(picker.handle(.enter) == .stays)
    #expect(picker.handle(.down) == .stays)
  }
}
