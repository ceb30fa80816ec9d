import PairingStore
import RegentPairing

extension StoreConformance {
  static let sessionChecks = [
    ConformanceCheck("a session is found by its cookie until it ends") { stage in
      let id = try await stage.session(1, as: stage.ann)
      let found = try await stage.store.session(stage.hash(2001), at: stage.at(1))
      try expect(
        found?.id == id && found?.viewer == stage.ann, "found \(String(describing: found))")
      let unknown = try await stage.store.session(stage.hash(9), at: stage.at(1))
      try expect(unknown == nil, "found a session without its cookie")
      _ = try await stage.store.endSession(id, audit: nil, at: stage.at(2))
      let ended = try await stage.store.session(stage.hash(2001), at: stage.at(3))
      try expect(ended == nil, "found one that has ended")
      let again = try await stage.store.endSession(id, audit: nil, at: stage.at(4))
      try expect(again == nil, "ended \(id) twice")
    },
    ConformanceCheck("an unused session expires, and each use extends it") { stage in
      let idle = 12 * 3600
      _ = try await stage.session(1, as: stage.ann)
      let used = try await stage.session(2, as: stage.ann)
      try await stage.store.touchSession(used, at: stage.at(3600))
      let sessions = try await stage.store.sessions(of: stage.ann, at: stage.at(idle))
      try expect(sessions.map(\.id) == [used], "are \(sessions)")
      try await expect(.sessionEnded) {
        try await stage.store.touchSession(used, at: stage.at(idle + 3600))
      }
    },
    ConformanceCheck("all sessions are listed by id, page by page") { stage in
      let ids = [
        try await stage.session(1, as: stage.ann), try await stage.session(2, as: stage.bob),
        try await stage.session(3, as: stage.ann),
      ].sorted()
      let first = try await stage.store.sessions(after: nil, limit: 2, at: stage.at(1))
      let rest = try await stage.store.sessions(after: ids[1], limit: 2, at: stage.at(1))
      try expect((first + rest).map(\.id) == ids, "are \(first + rest)")
      try await stage.disable(stage.ann)
      let left = try await stage.store.sessions(after: nil, limit: 9, at: stage.at(2))
      try expect(left.map(\.viewer) == [stage.bob], "are \(left)")
      let ended = try await stage.store.sessions(after: nil, limit: 9, at: stage.at(12 * 3600))
      try expect(ended.isEmpty, "are \(ended)")
    },
    ConformanceCheck("signing in again ends the earlier session of the browser") { stage in
      let first = try await stage.session(1, as: stage.ann)
      let second = SessionRecord(
        id: try ConformanceFixture.name("second"), token: try stage.hash(7), viewer: stage.bob,
        started: stage.at(1), lastUsed: stage.at(1))
      try await stage.store.startSession(second, replacing: first, proved: nil, at: stage.at(1))
      let old = try await stage.store.session(stage.hash(2001), at: stage.at(2))
      try expect(old == nil, "the earlier cookie still works")
      let new = try await stage.store.session(stage.hash(7), at: stage.at(2))
      try expect(new == second, "found \(String(describing: new))")
    },
    ConformanceCheck("at the limit of an account's sessions the one unused for longest ends") { stage in
      let (record, first) = try await stage.claimed(1)
      for number in 2...SessionRecord.mostOfAccount {
        _ = try await stage.session(number, as: stage.ann, second: number)
      }
      let other = try await stage.session(900, as: stage.bob, second: 1)
      let full = try await stage.store.sessions(of: stage.ann, at: stage.at(60))
      try expect(full.count == SessionRecord.mostOfAccount, "are \(full.count)")
      let next = SessionRecord(
        id: try ConformanceFixture.name("next"), token: try stage.hash(9), viewer: stage.ann,
        started: stage.at(60), lastUsed: stage.at(60))
      let changes = try await stage.store.startSession(next, replacing: nil, proved: nil, at: stage.at(60))
      try expect(changes.map(\.record.id) == [record.id], "gave back \(changes)")
      let left = try await stage.store.sessions(of: stage.ann, at: stage.at(61)).map(\.id)
      try expect(left.count == SessionRecord.mostOfAccount, "are \(left.count)")
      try expect(!left.contains(first) && left.contains(next.id), "ended another: \(left)")
      let bobs = try await stage.store.sessions(of: stage.bob, at: stage.at(61)).map(\.id)
      try expect(bobs == [other], "ended \(bobs) of another account")
    },
    ConformanceCheck("a flood of guest sessions from one address ends no session of another address") { stage in
      let guest = Viewer(provider: stage.promotion, account: nil)
      func start(_ number: Int, from address: String) async throws {
        let record = SessionRecord(
          id: try ConformanceFixture.name("guest-\(number)"), token: try stage.hash(2000 + number), viewer: guest,
          started: stage.at(number), lastUsed: stage.at(number), address: address)
        try await stage.store.startSession(record, replacing: nil, proved: nil, at: stage.at(number))
      }
      try await start(1, from: "192.0.2.1")
      for number in 2...(SessionRecord.mostOfAccount + 9) { try await start(number, from: "192.0.2.2") }
      let left = try await stage.store.sessions(of: guest, at: stage.at(99))
      let flood = left.filter { $0.address == "192.0.2.2" }
      try expect(flood.count == SessionRecord.mostOfAccount, "are \(flood.count)")
      try expect(left.contains { $0.address == "192.0.2.1" }, "ended another guest's")
    },
    ConformanceCheck("ending a session releases the codes that it had claimed") { stage in
      let (record, session) = try await stage.claimed(1)
      let changes = try await stage.store.endSession(session, audit: nil, at: stage.at(2))
      try expect(changes?.map(\.record.id) == [record.id], "gave back \(changes ?? [])")
      try expect(changes?.first?.record.flow.state == .opened, "left it \(changes ?? [])")
      let other = try await stage.session(2, as: stage.bob)
      _ = try await stage.store.claim(record.id, by: other, at: stage.at(3))
    },
    ConformanceCheck("disabling an account ends its sessions and refuses new ones") { stage in
      let (record, _) = try await stage.claimed(1)
      let changes = try await stage.store.put(
        .account(stage.account(stage.ann, isDisabled: true)),
        replacing: .account(stage.account(stage.ann)), audit: nil, at: stage.at(2))
      try expect(changes.map(\.record.id) == [record.id], "gave back \(changes)")
      let session = try await stage.store.session(stage.hash(2001), at: stage.at(3))
      try expect(session == nil, "the cookie still works")
      try await expect(.notInForce(.accountDisabled)) { try await stage.session(2, as: stage.ann) }
      let neighbour = try await stage.session(3, as: stage.bob)
      try await stage.store.touchSession(neighbour, at: stage.at(3))
    },
    ConformanceCheck("a new password ends every session except the one that set it") { stage in
      let name = try found(stage.ann.account, "account")
      _ = try await stage.store.setPassword(
        "$argon2id$0", of: name, at: stage.local, by: .operator, audit: nil, at: stage.at(0))
      let kept = try await stage.session(1, as: stage.ann)
      _ = try await stage.session(2, as: stage.ann)
      let bobs = try await stage.session(3, as: stage.bob)
      _ = try await stage.store.setPassword(
        "$argon2id$1", of: name, at: stage.local, by: .viewer(kept, proved: "$argon2id$0"), audit: nil, at: stage.at(1))
      let ofAnn = try await stage.store.sessions(of: stage.ann, at: stage.at(2))
      let ofBob = try await stage.store.sessions(of: stage.bob, at: stage.at(2))
      try expect(ofAnn.map(\.id) == [kept] && ofBob.map(\.id) == [bobs], "left \(ofAnn + ofBob)")
      _ = try await stage.store.setPassword(
        "$argon2id$2", of: name, at: stage.local, by: .operator, audit: nil, at: stage.at(3))
      let left = try await stage.store.sessions(of: stage.ann, at: stage.at(4))
      try expect(left.isEmpty, "left \(left)")
      let password = try await stage.store.password(of: name, at: stage.local)
      try expect(password == "$argon2id$2", "kept another password")
    },
    ConformanceCheck("a password that changes while it is checked gives no session and no further change") { stage in
      let (name, store) = (try found(stage.ann.account, "account"), stage.store)
      func set(_ phc: String, _ whom: PasswordSetter) async throws -> [RegistrationChange] {
        try await store.setPassword(phc, of: name, at: stage.local, by: whom, audit: nil, at: stage.at(1))
      }
      _ = try await set("$argon2id$1", .operator)
      let session = try await stage.session(1, as: stage.ann)
      _ = try await set("$argon2id$2", .viewer(session, proved: "$argon2id$1"))
      let late = SessionRecord(
        id: try ConformanceFixture.name("late"), token: try stage.hash(7), viewer: stage.ann, started: stage.at(2),
        lastUsed: stage.at(2))
      try await expect(.changedMeanwhile(what: "password")) {
        try await store.startSession(late, replacing: nil, proved: "$argon2id$1", at: stage.at(2))
      }
      try await expect(.changedMeanwhile(what: "password")) {
        _ = try await set("$argon2id$3", .viewer(session, proved: "$argon2id$1"))
      }
      let stranger = try await stage.session(3, as: stage.bob)
      try await expect(.sessionEnded) { _ = try await set("$argon2id$3", .viewer(stranger, proved: "$argon2id$2")) }
      let sessions = try await store.sessions(of: stage.ann, at: stage.at(3)).map(\.id)
      try expect(sessions == [session], "are \(sessions)")
      let password = try await store.password(of: name, at: stage.local)
      try expect(password == "$argon2id$2", "kept another password")
      try await store.startSession(late, replacing: nil, proved: "$argon2id$2", at: stage.at(4))
      let both = try await store.sessions(of: stage.ann, at: stage.at(5)).map(\.id)
      try expect(Set(both) == [session, late.id], "are \(both)")
    },
    ConformanceCheck("a password hash is renewed only if the password has not changed") { stage in
      let name = try found(stage.ann.account, "account")
      _ = try await stage.store.setPassword(
        "$argon2id$1", of: name, at: stage.local, by: .operator, audit: nil, at: stage.at(1))
      let kept = try await stage.session(1, as: stage.ann)
      for (seen, new) in [("$argon2id$1", "$argon2id$2"), ("$argon2id$1", "$argon2id$3")] {
        try await stage.store.renewPassword(new, replacing: seen, of: name, at: stage.local)
      }
      let password = try await stage.store.password(of: name, at: stage.local)
      try expect(password == "$argon2id$2", "kept another password")
      let sessions = try await stage.store.sessions(of: stage.ann, at: stage.at(2))
      try expect(sessions.map(\.id) == [kept], "ended a session")
      let nobody: AccountName = try ConformanceFixture.name("nobody")
      try await stage.store.renewPassword("new", replacing: "", of: nobody, at: stage.local)
      let none = try await stage.store.password(of: nobody, at: stage.local)
      try expect(none == nil, "gave nobody a password")
    },
    ConformanceCheck("accounts are imported all or none, and an existing password is kept") { stage in
      let (ann, store) = (try found(stage.ann.account, "account"), stage.store)
      _ = try await store.setPassword("own", of: ann, at: stage.local, by: .operator, audit: nil, at: stage.at(1))
      let kept = try await stage.session(1, as: stage.ann)
      let new = Account(provider: stage.local, name: try ConformanceFixture.name("new"))
      var moved = try stage.account(stage.ann)
      moved.household = try ConformanceFixture.name("elsewhere")
      let entry = AuditEntry(at: stage.at(2), actor: .service, action: "account.add", subject: "new")
      let good = [
        AccountWrite(new, replacing: nil, firstPassword: "given", audit: entry),
        AccountWrite(moved, replacing: try stage.account(stage.ann), firstPassword: "given", audit: nil),
      ]
      let late = AccountWrite(moved, replacing: nil, firstPassword: nil, audit: nil)
      try await expect(.changedMeanwhile(what: "account")) {
        try await store.putAccounts([good[0], late], at: stage.at(2))
      }
      let lost = Account(provider: try ConformanceFixture.name("lost"), name: ann)
      try await expect(.notFound(what: "provider")) {
        try await store.putAccounts(
          [good[0], AccountWrite(lost, replacing: nil, firstPassword: nil, audit: nil)], at: stage.at(2))
      }
      let none = try await store.account(stage.local, new.name)
      try expect(none == nil, "kept one of those that were refused")
      _ = try await store.putAccounts(good, at: stage.at(2))
      let there = try await store.account(stage.local, ann)
      try expect(there == moved, "has \(String(describing: there))")
      let passwords = [
        try await store.password(of: new.name, at: stage.local), try await store.password(of: ann, at: stage.local),
      ]
      try expect(passwords == ["given", "own"], "has \(passwords)")
      let sessions = try await store.sessions(of: stage.ann, at: stage.at(3))
      try expect(sessions.map(\.id) == [kept], "ended a session")
      let forms = try await store.passwordForms { $0 == "given" ? "as given" : nil }
      try expect(forms.filter { !$0.value.isEmpty } == [stage.local: ["as given"]], "has forms \(forms)")
      moved.isDisabled = true
      _ = try await store.putAccounts(
        [AccountWrite(moved, replacing: there, firstPassword: nil, audit: nil)], at: stage.at(4))
      let left = try await store.sessions(of: stage.ann, at: stage.at(5))
      try expect(left.isEmpty, "a disabled account stays signed in")
    },
    ConformanceCheck("a session needs an existing account, or a provider for guests") { stage in
      let nobody = Viewer(provider: stage.local, account: try ConformanceFixture.name("nobody"))
      try await expect(.notInForce(.accountGone)) { try await stage.session(1, as: nobody) }
      let guest = Viewer(provider: stage.local, account: nil)
      try await expect(.notInForce(.accountGone)) { try await stage.session(2, as: guest) }
      let lost = Viewer(provider: try ConformanceFixture.name("lost"), account: nil)
      try await expect(.notInForce(.notIntegrated)) { try await stage.session(3, as: lost) }
      _ = try await stage.session(4, as: Viewer(provider: stage.pass, account: nil))
    },
    ConformanceCheck("failed sign-ins are counted per account and cleared after a success") { stage in
      let name = try found(stage.ann.account, "account")
      let account = LoginSubject.account(stage.local, name)
      for second in 1...3 {
        _ = try await stage.store.recordLoginFailure(of: account, at: stage.at(second))
      }
      let three = try await stage.store.loginFailures(of: account)
      try expect(
        three == LoginFailures(count: 3, last: stage.at(3)), "counted \(String(describing: three))")
      let other = try await stage.store.loginFailures(
        of: .account(stage.local, ConformanceFixture.name("bob")))
      try expect(other == nil, "counted for another")
      try await stage.store.clearLoginFailures(of: account)
      let none = try await stage.store.loginFailures(of: account)
      try expect(none == nil, "still counts \(String(describing: none))")
    },
    ConformanceCheck("flooding the store with failed sign-ins gives no account its attempts back") { stage in
      let store = stage.store
      func account(_ name: String) throws -> LoginSubject { .account(stage.local, try ConformanceFixture.name(name)) }
      func fail(_ subject: LoginSubject, _ times: Int, from second: Int) async throws -> Int {
        var count = 0
        for number in 0..<times {
          count = try await store.recordLoginFailure(of: subject, at: stage.at(second + number)).count
        }
        return count
      }
      let source = try found(SourceKey(address: [192, 0, 2, 1]), "source")
      _ = try await fail(account("ann"), 7, from: 1)
      _ = try await fail(.source(source), 5, from: 1)
      for number in 0..<20 { _ = try await fail(account("made-up-\(number)"), number < 10 ? 2 : 1, from: 10 + number) }
      var gone: [Int] = []
      while let last = try await Optional(
        store.forgetExpired(at: stage.at(40), limit: 8, passes: 9, failures: 6)), last > 0, gone.count < 9
      {
        gone.append(last)
      }
      try expect(gone == [8, 8], "went in \(gone)")
      // The store forgets the subjects with the fewest failures first, and the oldest of these first.
      for (name, count) in [("ann", 7), ("made-up-9", 2), ("made-up-6", 2)] {
        let kept = try await store.loginFailures(of: account(name))
        try expect(kept?.count == count, "\(name) has \(String(describing: kept))")
      }
      for name in ["made-up-5", "made-up-19"] {
        let kept = try await store.loginFailures(of: account(name))
        try expect(kept == nil, "\(name) is remembered")
      }
      let again = try await fail(account("ann"), 1, from: 41)
      try expect(again == 8, "ann has \(again)")
      // A new subject starts with the highest count that was forgotten, so a flood wins no attempts. Failures of an
      // account from one source start at one.
      let newcomer = try await fail(account("zoe"), 1, from: 41)
      try expect(newcomer == 3, "zoe has \(newcomer)")
      let slip = try await fail(
        .accountFrom(source, stage.local, ConformanceFixture.name("zoe")), 1, from: 41)
      try expect(slip == 1, "zoe has \(slip) at home")
      // A day later the forgotten counts have expired, too.
      let later = 41 + 2 * 86_400
      while try await store.forgetExpired(at: stage.at(later), limit: 100) > 0 {}
      let fresh = try await fail(account("eve"), 1, from: later)
      try expect(fresh == 1, "eve has \(fresh)")
    },
  ]
}
