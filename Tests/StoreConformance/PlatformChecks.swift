import PairingStore
import RegentPairing

extension StoreConformance {
  static let platformChecks = [
    ConformanceCheck("a box's sign-in can be exchanged for an app's sign-in that depends on it") { stage in
      let box = try await stage.platformBox()
      let signIn = try await stage.store.exchange(stage.exchange(1, box), at: stage.at(4))
      let made = signIn.authentication
      try expect(made.source == .platform && made.viewer == stage.ann, "is \(made)")
      try expect(
        made.parent == ParentSignIn(box.authentication, app: "kodi"), "stands on \(String(describing: made.parent))")
      let standing = try await stage.store.standing(made.id, at: stage.at(5))
      try expect(standing?.record == signIn.record, "does not stand")
      let children = try await stage.store.children(of: box.authentication, at: stage.at(5))
      try expect(children == [signIn.record], "has \(children.count) children")
      let boxes = try await stage.store.boxes(after: nil, limit: 10, at: stage.at(5))
      try expect(boxes.map(\.box) == [box] && boxes.first?.apps == [signIn.record], "lists \(boxes.count)")
    },
    ConformanceCheck("an exchange request succeeds once, even if it is sent many times at once") { stage in
      let box = try await stage.platformBox()
      let results = try await stage.together(64) { number in
        try await stage.store.exchange(stage.exchange(1, box, device: number), at: stage.at(4))
      }
      try expect(results.successes().count == 1, "was answered \(results.successes().count) times")
      try await expect(.exchange(.used)) { try await stage.store.exchange(stage.exchange(1, box), at: stage.at(5)) }
    },
    ConformanceCheck("an exchange request that was refused may succeed once the cause is gone") { stage in
      let box = try await stage.platformBox()
      try await stage.setIntegration(singleSignOn: false)
      try await expect(.exchange(.singleSignOn)) {
        try await stage.store.exchange(stage.exchange(1, box), at: stage.at(4))
      }
      try await stage.setIntegration()
      _ = try await stage.store.exchange(stage.exchange(1, box), at: stage.at(5))
    },
    ConformanceCheck("an exchange checks every condition") { stage in
      let box = try await stage.platformBox()
      func refused(_ refusal: ExchangeRefusal, _ exchange: PlatformExchange, second: Int) async throws {
        try await expect(.exchange(refusal)) { try await stage.store.exchange(exchange, at: stage.at(second)) }
      }
      try await refused(.parent, try stage.exchange(1, box, key: [9]), second: 4)
      try await refused(.parent, try stage.exchange(1, box, provider: stage.promotion), second: 4)
      try await stage.setIntegration(enabled: false)
      try await refused(.integration, try stage.exchange(1, box), second: 4)
      try await stage.setIntegration(degradation: .authorizeEverybody)
      try await refused(.degraded, try stage.exchange(1, box), second: 4)
      try await stage.setIntegration()
      try await stage.setBoarding(.picker)
      try await refused(.boarding, try stage.exchange(1, box), second: 4)
      try await stage.setBoarding(.supported)
      try await stage.decide(false)
      try await refused(.permission, try stage.exchange(1, box), second: 4)
      // The permission was withdrawn after second 3, when the request was made: the box may have answered before
      // that.
      try await stage.decide(nil, second: 6)
      try await refused(.permission, try stage.exchange(1, box, made: 6), second: 7)
      _ = try await stage.store.exchange(stage.exchange(2, box, device: 41, made: 7), at: stage.at(7))
      // A question, or a withdrawal from before the request was made, does not refuse it.
      try await stage.decide(nil, app: "asks", second: 0)
      _ = try await stage.store.exchange(stage.exchange(3, box, device: 42, app: "asks"), at: stage.at(7))
      try await stage.decide(true)
      try await stage.put(
        .requestor(stage.maker(isPlatform: false)), replacing: .requestor(stage.maker(isPlatform: true)))
      try await refused(.parent, try stage.exchange(1, box), second: 4)
      try await stage.put(
        .requestor(stage.maker(isPlatform: true)), replacing: .requestor(stage.maker(isPlatform: false)))
      _ = try await stage.store.exchange(stage.exchange(1, box), at: stage.at(5))
    },
    ConformanceCheck("an app's sign-in ends when the box signs out, permission is denied or single sign-on is off") {
      stage in
      let box = try await stage.platformBox()
      let child = try await stage.store.exchange(stage.exchange(1, box), at: stage.at(4)).authentication.id
      func stands() async throws -> Bool { try await stage.store.standing(child, at: stage.at(6)) != nil }
      try await stage.decide(false)
      try await expect(.notInForce(.parentEnded)) { try await stands() }
      func listed() async throws -> Bool {
        try await stage.store.authentications(
          AuthenticationFilter(), after: nil, limit: 100, at: stage.at(6)
        ).contains { $0.authentication.id == child }
      }
      try expect(try await !listed(), "a list has who is out")
      try await stage.decide(nil)
      try await expect(.notInForce(.parentEnded)) { try await stands() }
      try expect(try await !listed(), "a list has whose yes was taken back")
      try await stage.decide(true)
      try expect(try await stands(), "a yes does not count")
      try expect(try await listed(), "no list has it")
      try await stage.setIntegration(singleSignOn: false)
      try await expect(.notInForce(.notIntegrated)) { try await stands() }
      try await stage.setIntegration()
      _ = try await stage.store.signOut(
        requestor: stage.makerID, device: stage.boxDevice, at: stage.at(6))
      try await expect(.notInForce(.parentEnded)) { try await stands() }
      try expect(try await !listed(), "a list has an app whose box is signed out")
      try expect(try await stage.store.box(box.id, at: stage.at(6)) == nil, "the key outlives its sign-in")
    },
    ConformanceCheck("an app's sign-in is paused while the box's integration is off, unless it has ended itself") {
      stage in
      let box = try await stage.platformBox()
      let child = try await stage.store.exchange(stage.exchange(1, box), at: stage.at(4)).authentication.id
      let (on, off) = (
        Integration(requestor: try stage.makerID, provider: stage.local),
        Integration(requestor: try stage.makerID, provider: stage.local, enabled: false)
      )
      func stands() async throws -> Bool { try await stage.store.standing(child, at: stage.at(6)) != nil }
      try await stage.put(.integration(off), replacing: .integration(on))
      try await expect(.notInForce(.switchedOff)) { try await stands() }
      try await stage.setIntegration(singleSignOn: false)
      try await expect(.notInForce(.notIntegrated)) { try await stands() }
      try await stage.setIntegration()
      try await stage.decide(false)
      try await expect(.notInForce(.parentEnded)) { try await stands() }
      try await stage.decide(true)
      try await stage.put(.integration(on), replacing: .integration(off))
      try expect(try await stands(), "does not go on")
      try await stage.disable(stage.ann)
      try await expect(.notInForce(.accountDisabled)) { try await stands() }
    },
    ConformanceCheck("a new sign-in of the box ends the app sign-ins and the key of the earlier one") { stage in
      let box = try await stage.platformBox()
      let child = try await stage.store.exchange(stage.exchange(1, box), at: stage.at(4)).authentication.id
      let next = try await stage.platformBox(2)
      try await expect(.notInForce(.parentEnded)) { try await stage.store.standing(child, at: stage.at(6)) }
      try await expect(.exchange(.parent)) { try await stage.store.exchange(stage.exchange(2, box), at: stage.at(6)) }
      _ = try await stage.store.exchange(stage.exchange(3, next), at: stage.at(6))
    },
    ConformanceCheck("an exchange does not replace a valid regular sign-in") { stage in
      let box = try await stage.platformBox()
      let regular = try await stage.signedIn(7, device: 50)
      let answer = try await stage.store.exchange(stage.exchange(1, box, device: 50), at: stage.at(4))
      try expect(answer.record == regular, "is \(answer.authentication)")
    },
    ConformanceCheck("an app's sign-in does not outlive the box's, and used requests are forgotten when they expire") {
      stage in
      let box = try await stage.platformBox()
      let parent = try found(try await stage.store.standing(box.authentication, at: stage.at(4)), "parent")
      let child = try await stage.store.exchange(stage.exchange(1, box), at: stage.at(4))
      try expect(child.authentication.expires <= parent.authentication.expires, "outlives it")
      let early = try await stage.store.forgetExpired(at: stage.at(700), limit: 100)
      try expect(early == 0, "\(early) rows went")
      // The clock was set back in between: the request must still count as used.
      try await expect(.exchange(.used)) { try await stage.store.exchange(stage.exchange(1, box), at: stage.at(5)) }
      // Two rows: the request, and the code of the box's own sign-in.
      let gone = try await stage.store.forgetExpired(at: stage.at(4200), limit: 100)
      try expect(gone == 2, "\(gone) rows went")
    },
    ConformanceCheck("at the limit of one app's sign-ins, its oldest ends and no other app's") { stage in
      let box = try await stage.platformBox()
      let other = try await stage.store.exchange(stage.exchange(99, box, device: 99, app: "tv"), at: stage.at(3))
      for number in 0...BoxOverview.mostOfApp {
        _ = try await stage.store.exchange(
          stage.exchange(number, box, device: 100 + number), at: stage.at(4) + .milliseconds(number))
      }
      let children = try await stage.store.children(of: box.authentication, at: stage.at(6))
      try expect(children.count == BoxOverview.mostOfApp + 1, "there are \(children.count)")
      let first: AuthenticationID = try ConformanceFixture.name("child-0-100")
      try expect(!children.contains { $0.authentication.id == first }, "the oldest stayed")
      try expect(children.contains(other.record), "the other app's went")
    },
    ConformanceCheck("the app sign-ins of one box are limited, even if it invents app names") { stage in
      let box = try await stage.platformBox()
      for number in 0...BoxOverview.mostOfBox {
        _ = try await stage.store.exchange(
          stage.exchange(number, box, device: 100 + number, app: "app-\(number)"),
          at: stage.at(4) + .milliseconds(number))
      }
      let children = try await stage.store.children(of: box.authentication, at: stage.at(6))
      try expect(children.count == BoxOverview.mostOfBox, "there are \(children.count)")
      try expect(!children.contains { $0.authentication.parent?.app == "app-0" }, "the oldest stayed")
    },
    ConformanceCheck("repeating a decision adds no line to the audit log") { stage in
      let before = try await stage.store.audit(after: 0, limit: 1000).count
      for (number, word) in [true, true, true, false, false, true].enumerated() {
        let decision = PlatformPermissionRecord(
          device: try stage.hash(1001), app: "kodi", requestor: stage.requestor, isGranted: word,
          decided: stage.at(10 + number))
        let line = AuditEntry(
          at: stage.at(10 + number), actor: .service, action: "platform.decide", subject: "one", outcome: .done,
          detail: "\(word)")
        let holds = try await stage.store.decide(decision, signed: nil, audit: line, at: stage.at(50))
        try expect(holds, "decision \(number) does not hold")
      }
      let after = try await stage.store.audit(after: 0, limit: 1000).count
      try expect(after - before == 3, "\(after - before) lines of three changes")
    },
    ConformanceCheck("a decision that the box signed counts once, and its id is forgotten an hour after its end") {
      stage in
      let box = try await stage.platformBox()
      let found = try await stage.store.box(of: box.authentication)
      try expect(found == box, "found \(String(describing: found))")
      let none = try await stage.store.box(of: try ConformanceFixture.name("no-sign-in"))
      try expect(none == nil, "a sign-in without a key has one")
      let signed = UsedText(decision: "one", of: box.id, ends: stage.at(60))
      try expect(try await stage.decide(true, second: 10, signed: signed), "was not kept")
      try expect(try await !stage.decide(false, second: 20, signed: signed), "counted twice")
      // The earlier decision does not hold, and its id is used nevertheless.
      let late = UsedText(decision: "late", of: box.id, ends: stage.at(60))
      try expect(try await !stage.decide(false, second: 9, signed: late), "the older decision holds")
      try expect(try await !stage.decide(false, second: 30, signed: late), "counted twice")
      let other = UsedText(decision: "one", of: try ConformanceFixture.name("another-box"), ends: stage.at(60))
      try expect(try await stage.decide(false, second: 40, signed: other), "another box's id counted")
      _ = try await stage.store.forgetExpired(at: stage.at(3659), limit: 100)
      try expect(try await !stage.decide(true, second: 50, signed: signed), "counted after the clock was set back")
      _ = try await stage.store.forgetExpired(at: stage.at(3660), limit: 100)
      try expect(try await stage.decide(true, second: 50, signed: signed), "the id was not forgotten")
    },
    ConformanceCheck("the number of apps that a box decides about is limited") { stage in
      for number in 0..<PlatformPermissionRecord.mostOfBox { try await stage.decide(true, app: "app-\(number)") }
      try await stage.decide(false, app: "app-3")
      try await expect(.notFound(what: "room for the decision")) { try await stage.decide(true, app: "one-more") }
      let decisions = try await stage.store.decisions(of: stage.boxDevice)
      try expect(decisions.count == PlatformPermissionRecord.mostOfBox, "has \(decisions.count)")
      try expect(decisions.first { $0.app == "app-3" }?.isGranted == false, "kept the first word")
      // A new decision replaces a withdrawn one, the one withdrawn first before the others. A question replaces none.
      try await stage.decide(nil, app: "app-5")
      try await stage.decide(nil, app: "app-4")
      try await expect(.notFound(what: "room for the decision")) { try await stage.decide(nil, app: "asks") }
      try expect(try await stage.decide(true, app: "one-more"), "was not kept")
      let apps = try await stage.store.decisions(of: stage.boxDevice).map(\.app)
      try expect(apps.count == PlatformPermissionRecord.mostOfBox, "has \(apps.count)")
      try expect(apps.contains("app-4") && !apps.contains("app-5"), "forgot another")
    },
    ConformanceCheck("of two decisions about an app the later one wins, and of two at the same time the denial") {
      stage in
      // The decision, when the viewer made it, when the store gets it, and whether the store accepts it.
      let told: [(isGranted: Bool?, second: Int, now: Int, holds: Bool)] = [
        (nil, 0, 90, true), (true, 10, 90, true), (nil, 0, 90, false), (false, 9, 90, false), (false, 10, 90, true),
        (true, 10, 90, false), (nil, 10, 90, false), (nil, 11, 90, true), (true, 10, 90, false), (true, 12, 90, true),
        // The clock was set back. A new decision counts, and so does an old denial, but not an old permission.
        (nil, 4, 5, false), (false, 4, 5, true), (true, 90, 90, true), (false, 80, 80, true), (true, 59, 60, false),
        (true, 60, 60, true),
      ]
      var now: Bool?
      for (number, one) in told.enumerated() {
        let holds = try await stage.decide(one.isGranted, second: one.second, now: one.now)
        try expect(holds == one.holds, "word \(number) holds: \(holds)")
        if holds { now = one.isGranted }
        let decisions = try await stage.store.decisions(of: stage.boxDevice)
        try expect(decisions.map(\.isGranted) == [now], "after word \(number): \(decisions.map(\.isGranted))")
      }
    },
  ]
}

extension ConformanceFixture {
  fileprivate var makerID: RequestorID { get throws { try Self.name("BOXMAKER") } }
  var boxDevice: DeviceHash { get throws { try hash(1900) } }

  fileprivate func maker(isPlatform: Bool) throws -> Requestor {
    Requestor(id: try makerID, name: "Box maker", isPlatform: isPlatform)
  }

  /// A box of the box maker where Ann is signed in, and everything that allows an exchange for the reference app.
  func platformBox(_ number: Int = 1) async throws -> BoxRecord {
    let rows: PublicKey = try Self.name("rows-of-BOXMAKER")
    if number == 1 {
      try await put(.requestor(maker(isPlatform: true)))
      try await store.add(
        KeyPair(
          publicKey: rows, requestor: makerID, purpose: .rows, secret: StoredSecret([4, 5, 6]), created: at(0)),
        audit: nil, at: at(0))
      try await put(.integration(Integration(requestor: makerID, provider: local)))
      try await setBoarding(.supported)
      try await setIntegration()
    }
    let code = RegistrationRecord(
      id: try Self.name("box-code-\(number)"), code: try hash(800 + number), requestor: try makerID,
      device: try Self.name("box"), deviceHash: try boxDevice, rowKey: rows,
      flow: PairingFlow(issued: at(0), lifetime: .usual))
    try await reserve(code)
    let session = try await session(30 + number, as: ann)
    _ = try await store.claim(code.id, by: session, at: at(1))
    let result = try await store.approve(code.id, try yes(session, as: 30 + number), audit: nil, at: at(2))
    let signIn = try found(result.authentication, "authentication")
    let box = BoxRecord(
      id: try Self.name("box-\(number)"), authentication: signIn.authentication.id, key: [1, 2, UInt8(number)],
      enrolled: at(3), rowKey: rows)
    let enrolled = try await store.enrol(box, at: at(3))
    try expect(enrolled == box, "enrolled \(enrolled)")
    let other = BoxRecord(
      id: try Self.name("box-other-\(number)"), authentication: signIn.authentication.id, key: [9, 9],
      enrolled: at(3), rowKey: rows)
    let refused = try await store.enrol(other, at: at(3))
    try expect(refused == box, "a second key of the sign-in was enrolled: \(refused)")
    return box
  }

  fileprivate func setIntegration(
    enabled: Bool = true, singleSignOn: Bool = true, degradation: Degradation? = nil
  ) async throws {
    let there = try await store.provisioning().integrations[requestor]?[local]
    let next = Integration(
      requestor: requestor, provider: local, enabled: enabled, singleSignOn: singleSignOn, degradation: degradation)
    if there != next { try await put(.integration(next), replacing: there.map { .integration($0) }) }
  }

  fileprivate func setBoarding(_ boarding: BoardingStatus) async throws {
    let there = try await store.provisioning().providers[local]
    let next = Provider(id: local, name: "Local", kind: .local, boarding: boarding)
    try await put(.provider(next), replacing: there.map { .provider($0) })
  }

  @discardableResult
  func decide(
    _ isGranted: Bool?, app: String = "kodi", second: Int? = nil, now: Int = 100, signed: UsedText? = nil
  ) async throws -> Bool {
    // Unless a check gives a time, each decision is later than the one before.
    let there = try await store.decisions(of: boxDevice)
    let latest = there.map(\.decided).max() ?? at(4)
    return try await store.decide(
      PlatformPermissionRecord(
        device: boxDevice, app: app, requestor: requestor, isGranted: isGranted,
        decided: second.map { at($0) } ?? latest + .milliseconds(1)), signed: signed, audit: nil, at: at(now))
  }

  func exchange(
    _ number: Int, _ box: BoxRecord, device: Int = 40, key: [UInt8]? = nil, provider: ProviderID? = nil,
    app: String = "kodi", made: Int = 3
  ) throws -> PlatformExchange {
    PlatformExchange(
      request: "request-\(number)", requestMade: at(made), requestEnds: at(600), box: box.id, key: key ?? box.key,
      provider: provider ?? local, app: app, requestor: requestor, device: try Self.name("device-\(device)"),
      deviceHash: try hash(1000 + device), profile: nil, about: DeviceDescription(name: "A box"), rowKey: rowKey,
      authentication: try Self.name("child-\(number)-\(device)"))
  }
}
