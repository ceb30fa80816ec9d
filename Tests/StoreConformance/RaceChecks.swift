import PairingStore
import RegentPairing

extension StoreConformance {
  static let raceChecks = [
    ConformanceCheck("of many approvals of one code at once, exactly one succeeds") { stage in
      let (record, session) = try await stage.claimed(1)
      let results = try await stage.together(32) { number in
        let request =
          number.isMultiple(of: 2)
          ? try stage.yes(session, as: number) : try stage.order(for: stage.bob, as: number)
        return try await stage.store.approve(record.id, request, audit: nil, at: stage.at(2))
      }
      let won = results.successes()
      try expect(won.count == 1, "\(won.count) won")
      let losers = results.compactMap { result -> StoreError? in
        if case .failure(let error) = result { error } else { nil }
      }
      try expect(losers.allSatisfy { $0 == .refused(.alreadyApproved) }, "lost with \(losers)")
      let all = try await stage.allAuthentications()
      try expect(all == won.compactMap(\.authentication), "there are \(all.count)")
    },
    ConformanceCheck("of many reads at once, one is the delivery and all get the same sign-in") { stage in
      let signedIn = try await stage.signedIn(1)
      let reads = try await stage.together(32) { number in
        try await stage.pickUp(awaitsDelivery: number.isMultiple(of: 3), second: 3)
      }
      let pickUps = reads.successes()
      try expect(pickUps.count == 32, "\(pickUps.count) of 32 read it")
      try expect(pickUps.allSatisfy { $0.signIn?.record == signedIn }, "they differ")
      try expect(pickUps.count { $0.delivery != nil } == 1, "delivered more than once, or never")
    },
    ConformanceCheck("of many sessions that claim a code at once, exactly one gets it") { stage in
      let record = try stage.registration(1)
      try await stage.reserve(record)
      var sessions: [SessionID] = []
      for number in 0..<16 {
        sessions.append(try await stage.session(number, as: stage.ann))
      }
      let all = sessions
      let results = try await stage.together(16) { number in
        try await stage.store.claim(record.id, by: all[number], at: stage.at(1))
      }
      try expect(results.successes().count == 1, "\(results.successes().count) hold it")
    },
    ConformanceCheck("approving, denying and withdrawing a code at once leaves exactly one result") { stage in
      for round in 1...8 {
        let (record, session) = try await stage.claimed(round, device: round)
        let results = try await stage.together(9) { number -> PairingStatus in
          switch number % 3 {
          case 0:
            return try await stage.store.approve(
              record.id, stage.yes(session, as: 100 * round + number), audit: nil, at: stage.at(2)
            ).change.record.flow.state.status
          case 1:
            return try await stage.store.deny(
              record.id, by: session, audit: nil, at: stage.at(2)
            ).record.flow.state.status
          default:
            return try await stage.store.withdraw(
              record.id, .newerCode, audit: nil, at: stage.at(2)
            ).record.flow.state.status
          }
        }
        let answers = Set(results.successes())
        try expect(answers.count == 1, "round \(round) ended as \(answers)")
        let status = try await stage.status(record, second: 3)
        try expect(answers.contains(status), "round \(round) is \(status), not \(answers)")
        let made = try await stage.pickUp(device: round, second: 3).signIn
        try expect(
          (made != nil) == (status == .approved),
          "round \(round): \(status) with \(String(describing: made))")
      }
    },
    ConformanceCheck("of many new codes of one device at once, one stays pending") { stage in
      let results = try await stage.together(16) { number in
        try await stage.reserve(stage.registration(number))
      }
      try expect(results.successes().count == 16, "only \(results.successes().count) were made")
      let all = try await stage.store.registrations(after: nil, limit: 100, at: stage.at(1))
      let pending = all.filter { $0.flow.state.isPending }
      try expect(pending.count == 1, "\(pending.count) are pending")
      try expect(results.successes().joined().count == 15, "not each withdrawal is told once")
    },
    ConformanceCheck("of many devices that draw the same code at once, one gets it") { stage in
      let results = try await stage.together(16) { number in
        let record = RegistrationRecord(
          id: try ConformanceFixture.name("registration-\(number)"), code: try stage.hash(7),
          requestor: stage.requestor, device: try ConformanceFixture.name("device-\(number)"),
          deviceHash: try stage.hash(1000 + number), rowKey: stage.rowKey,
          flow: PairingFlow(issued: stage.at(0), lifetime: .usual))
        try await stage.reserve(record)
      }
      try expect(results.successes().count == 1, "\(results.successes().count) got it")
    },
    ConformanceCheck("many new codes at once do not exceed the limit") { stage in
      let results = try await stage.together(32) { number in
        try await stage.reserve(stage.registration(number, device: number), limit: 10)
      }
      try expect(results.successes().count == 10, "\(results.successes().count) were made")
    },
    ConformanceCheck("disabling an account while its code is approved leaves no device signed in") { stage in
      let (record, session) = try await stage.claimed(1)
      _ = try await stage.together(8) { number in
        if number == 3 {
          try await stage.disable(stage.ann)
        } else {
          _ = try await stage.store.approve(
            record.id, stage.yes(session, as: number), audit: nil, at: stage.at(2))
        }
      }
      // Even an approval that came before the disabling must not give a sign-in now.
      let pickUp = try? await stage.pickUp(second: 3).signIn
      try expect(pickUp == nil, "a disabled account's device got \(String(describing: pickUp))")
    },
    ConformanceCheck("many requests for the same permit at once create one permit") { stage in
      let authentication = try await stage.signedIn(1).authentication
      let resource = try ConformanceFixture.name("ESPN") as ResourceID
      let results = try await stage.together(16) { number in
        let now = stage.at(10 + number)
        return try await stage.store.record(
          Permit(resource, for: authentication, lifetime: .seconds(3600), at: now), at: now)
      }
      try expect(Set(results.successes()).count == 1, "there are \(Set(results.successes()))")
    },
    ConformanceCheck("concurrent openings do not exceed the number of titles of a pass") { stage in
      let guest = try await stage.store.signInWithoutCode(
        stage.guest(1, at: stage.promotion, identity: 1), at: stage.at(0))
      let results = try await stage.together(16) { number in
        try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name("film-\(number)"), at: stage.at(1))
      }
      try expect(results.successes().count == 2, "\(results.successes().count) were opened")
    },
    ConformanceCheck("two devices with one identity together do not exceed the pass") { stage in
      var guests: [AuthenticationID] = []
      for device in 1...2 {
        let guest = try await stage.store.signInWithoutCode(
          stage.guest(device, at: stage.promotion, device: device, identity: 1), at: stage.at(0))
        guests.append(guest.authentication.id)
      }
      let results = try await stage.together(16) { [guests] number in
        try await stage.store.openTemporarily(
          guests[number % 2], ConformanceFixture.name("film-\(number)"), at: stage.at(1))
      }
      try expect(results.successes().count == 2, "\(results.successes().count) were opened")
    },
    ConformanceCheck("of many operators that change a record at once, one succeeds") { stage in
      let before = Requestor(id: stage.requestor, name: "Reference")
      let results = try await stage.together(16) { number in
        var after = before
        after.name = "Reference \(number)"
        try await stage.put(.requestor(after), replacing: .requestor(before))
      }
      try expect(results.successes().count == 1, "\(results.successes().count) succeeded")
    },
    ConformanceCheck("a reader that follows the audit log by number misses no line while others write") { stage in
      let wanted = 48
      async let read = {
        var seen: [Int64] = []
        while seen.count < wanted {
          let page = try await stage.other.audit(after: seen.last ?? 0, limit: 5)
          seen += page.map(\.number)
        }
        return seen
      }()
      let results = try await stage.together(wanted) { number in
        let store = number.isMultiple(of: 2) ? stage.store : stage.other
        try await store.append(AuditEntry(at: stage.at(0), actor: .service, action: "test", subject: "\(number)"))
      }
      try expect(results.successes().count == wanted, "\(results.successes().count) were written")
      // A line committed late with a smaller number would be missing here, or the reader would wait forever.
      let seen = try await read
      try expect(seen == Array(1...Int64(wanted)), "read \(seen)")
    },
    ConformanceCheck("concurrent audit lines and login failures are all counted") { stage in
      let source = try found(SourceKey(address: [10, 0, 0, 1]), "source")
      _ = try await stage.together(32) { number in
        try await stage.store.append(
          AuditEntry(at: stage.at(0), actor: .service, action: "test", subject: "\(number)"))
        _ = try await stage.store.recordLoginFailure(of: .source(source), at: stage.at(0))
      }
      let lines = try await stage.store.audit(after: 0, limit: 100)
      try expect(lines.map(\.number) == Array(1...32), "numbered \(lines.map(\.number))")
      let failures = try await stage.store.loginFailures(of: .source(source))
      try expect(failures?.count == 32, "counted \(String(describing: failures))")
    },
    ConformanceCheck(
      "concurrent login attempts get exactly the free ones, and attempts that are given back do not count"
    ) { stage in
      let source = LoginSubject.source(try found(SourceKey(address: [10, 0, 0, 1]), "source"))
      func failures() async throws -> LoginFailures? { try await stage.other.loginFailures(of: source) }
      func take(_ count: Int, _ second: Int) async throws -> [LoginTry] {
        let results = try await stage.together(count) { number in
          let store = number.isMultiple(of: 2) ? stage.store : stage.other
          return try await store.takeLoginTry(of: source, free: 8, at: stage.at(second))
        }
        try expect(results.successes().count == count, "\(results)")
        return results.successes().compactMap(\.self)
      }
      let taken = try await take(32, 1)
      try expect(taken.count == 8, "\(taken.count) were taken")
      let full = try await failures()
      try expect(full == LoginFailures(count: 8, last: stage.at(1)), "counted \(String(describing: full))")
      // After the pause one attempt is free.
      let one = try await take(32, 2)
      try expect(one.count == 1, "\(one.count) were taken after the pause")
      // Giving an attempt back undoes it. If later attempts were counted, the count goes down by one.
      for counted in one { try await stage.store.giveBack(counted, of: source) }
      let before = try await failures()
      try expect(before == full, "left \(String(describing: before))")
      for counted in taken.prefix(7) { try await stage.store.giveBack(counted, of: source) }
      let left = try await failures()
      try expect(left?.count == 1, "left \(String(describing: left))")
      for counted in taken.suffix(1) { try await stage.store.giveBack(counted, of: source) }
      let none = try await failures()
      try expect(none == nil, "left \(String(describing: none))")
      for counted in taken.suffix(1) { try await stage.store.giveBack(counted, of: source) }
    },
  ]
}
