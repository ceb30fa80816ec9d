import PairingStore
import RegentPairing

extension StoreConformance {
  static let upkeepChecks = [
    ConformanceCheck("the audit log is numbered without gaps and can be read from any number") { stage in
      func line(_ number: Int) throws -> AuditEntry {
        let actors: [AuditEntry.Actor] = [
          .operator(stage.carl), .viewer(stage.ann), .device(stage.requestor), .service,
          .viewer(Viewer(provider: stage.pass, account: nil)),
        ]
        return AuditEntry(
          at: stage.at(number), actor: actors[number % actors.count], action: "test.\(number)",
          subject: "☃", outcome: AuditEntry.Outcome.allCases[number % 3], detail: "a\nb")
      }
      let nothing = try await stage.store.newestAuditNumber()
      try expect(nothing == 0, "begins at \(nothing)")
      for number in 1...7 { try await stage.store.append(line(number)) }
      let first = try await stage.store.audit(after: 0, limit: 3)
      let rest = try await stage.store.audit(after: 3, limit: 99)
      let expected = try (1...7).map { NumberedAuditEntry(number: Int64($0), entry: try line($0)) }
      try expect(first + rest == expected, "are \(first + rest)")
      let newest = try await stage.store.newestAuditNumber()
      try expect(newest == 7, "ends at \(newest)")
    },
    ConformanceCheck("a full audit log drops lines of unauthenticated clients before those of operators and accounts") {
      stage in
      func append(_ actor: AuditEntry.Actor, _ action: String, _ count: Int, refused: Bool = false) async throws {
        for number in 1...count {
          try await stage.store.append(
            AuditEntry(
              at: stage.at(number), actor: actor, action: action, subject: "local/ann",
              outcome: refused ? .refused : .done))
        }
      }
      func thin(_ most: Int64) async throws -> Int {
        let retention = AuditRetention(age: .seconds(86_400), most: most, least: 2)
        var gone = 0
        for _ in 1...99 { gone += try await stage.store.forgetAudit(beyond: retention, at: stage.at(99), limit: 7) }
        return gone
      }
      func actions() async throws -> [String: Int] {
        let lines = try await stage.store.audit(after: 0, limit: 999).map(\.entry.action)
        return lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      try await append(.operator(stage.carl), "test.first", 3)
      try await append(.device(stage.requestor), "platform.decide", 40)
      try await append(.service, "session.start", 3, refused: true)
      try await append(.service, "client.register", 40)
      try await append(.viewer(stage.ann), "code.approve", 2)
      let nothing = try await thin(88)
      try expect(nothing == 0, "\(nothing) of a log that is just full")
      let some = try await thin(60)
      try expect(some >= 28, "only \(some)")
      let then = try await actions()
      try expect(
        then["test.first"] == 3 && then["session.start"] == 3 && then["code.approve"] == 2
          && then["client.register"] == 40 && then["platform.decide", default: 0] < 20, "the oldest go first: \(then)")
      try await append(.service, "client.register", 30)
      try await append(.operator(stage.carl), "test.last", 4)
      _ = try await thin(20)
      let late = try await actions()
      try expect(
        late["test.first"] == 3 && late["session.start"] == 3 && late["code.approve"] == 2 && late["test.last"] == 4
          && late.values.reduce(0, +) <= 20, "strangers alone go: \(late)")
      let lines = try await stage.store.audit(after: 0, limit: 999)
      try expect(lines.last?.number == 122 && lines.map(\.number) == lines.map(\.number).sorted(), "numbers: \(lines)")
      // If that is not enough, the oldest lines of all go.
      _ = try await thin(5)
      let left = try await actions()
      try expect(left["test.last"] == 4 && left["test.first"] == nil, "the newest stay: \(left)")
      try await stage.store.append(
        AuditEntry(at: stage.at(99), actor: .service, action: "test.more", subject: "x"))
      let newest = try await stage.store.newestAuditNumber()
      try expect(newest == 123, "goes on at \(newest)")
    },
    ConformanceCheck("the last saved counters of each kind are returned") { stage in
      for kind in StoredCounters.allCases {
        let nothing = try await stage.store.keptNumbers(kind)
        try expect(nothing == nil, "begin with \(nothing ?? "")")
        for text in ["{\"a\":1}", "", "{\"a\":\"☃\",\"of\":\"\(kind)\"}"] {
          try await stage.store.keepNumbers(text, as: kind)
          let kept = try await stage.store.keptNumbers(kind)
          try expect(kept == text, "are \(kept ?? "none") instead of \(text)")
        }
      }
      for kind in StoredCounters.allCases {
        let kept = try await stage.store.keptNumbers(kind)
        try expect(kept?.contains("\(kind)") == true, "are those of another: \(kept ?? "none")")
      }
    },
    ConformanceCheck("each node has its own counters, separate from those of the service") { stage in
      let (one, other): (NodeID, NodeID) = (try ConformanceFixture.name("one"), try ConformanceFixture.name("other"))
      try await stage.store.keepNumbers("all", as: .day)
      try await stage.store.keepNumbers("1", as: .day, of: one)
      try await stage.store.keepNumbers("2", as: .day, of: other)
      try await stage.store.keepNumbers("keys", as: .keys, of: one)
      try await stage.store.keepNumbers("3", as: .day, of: other)
      let kept = try await (
        stage.store.keptNumbers(.day), stage.store.keptNumbers(.day, of: one), stage.store.keptNumbers(.keys, of: other)
      )
      try expect(kept == ("all", "1", nil), "are \(kept)")
      let all = try await stage.store.keptNumbersOfNodes(.day)
      try expect(all == [one: "1", other: "3"], "are \(all)")
    },
    ConformanceCheck("expired codes are forgotten in small steps, and nothing valid is") {
      stage in
      for number in 1...5 { try await stage.reserve(stage.registration(number, device: number)) }
      let signedIn = try await stage.signedIn(6, device: 6)
      let late = try stage.registration(7, device: 7, second: 2000)
      try await stage.reserve(late, second: 2000)
      var steps: [Int] = []
      while let last = try await Optional(stage.store.forgetExpired(at: stage.at(2400), limit: 2)),
        last > 0, steps.count < 20
      {
        steps.append(last)
      }
      try expect(steps == [2, 2, 2], "went in \(steps)")
      let left = try await stage.store.registrations(after: nil, limit: 99, at: stage.at(2401))
      try expect(left == [late], "left \(left.map(\.id))")
      let pickUp = try await stage.pickUp(device: 6, second: 2402)
      try expect(pickUp.signIn?.record == signedIn, "the sign-in went with its code")
    },
    ConformanceCheck("expired sign-ins, permits, sessions, failures and signing keys are forgotten") {
      stage in
      let authentication = try await stage.signedIn(1).authentication
      let resource = try ConformanceFixture.name("ESPN") as ResourceID
      _ = try await stage.store.record(
        Permit(resource, for: authentication, lifetime: .seconds(60), at: stage.at(3)),
        at: stage.at(3))
      let name = try found(stage.ann.account, "account")
      _ = try await stage.store.recordLoginFailure(of: .account(stage.local, name), at: stage.at(3))
      let key = SigningKeyRecord(
        id: try ConformanceFixture.name("key"), privateKey: StoredSecret([1]), publicKey: "{}",
        created: stage.at(0),
        signsFrom: stage.at(0))
      try await stage.store.add(key, audit: nil, at: stage.at(0))
      try await stage.store.retireSigningKey(
        key.id, neededUntil: stage.at(100), audit: nil, at: stage.at(3))
      // Five rows: registration, session, permit, failure and key. The sign-in lasts a month.
      let first = try await stage.store.forgetExpired(at: stage.at(2 * 86_400), limit: 100)
      try expect(first == 5, "forgot \(first)")
      // A device that asks a little late must learn that its sign-in has expired, not that it never had one.
      let early = try await stage.store.forgetExpired(at: authentication.expires, limit: 100)
      try expect(early == 0, "forgot \(early) at once")
      let second = try await stage.store.forgetExpired(
        at: authentication.expires + CodeLifetime.remembrance, limit: 100)
      try expect(second == 1, "forgot \(second)")
      let keys = try await stage.store.signingKeys()
      let failures = try await stage.store.loginFailures(of: .account(stage.local, name))
      try expect(keys.isEmpty && failures == nil, "left a key or failures")
    },
  ]
}
