import PairingStore
import RegentPairing

extension StoreConformance {
  static let erasureChecks = [
    ConformanceCheck("erasing a viewer deletes every row about that viewer and none about another") { stage in
      try await stage.fill()
      let (ann, bob) = (try await stage.rows(about: stage.ann), try await stage.rows(about: stage.bob))
      try expect(
        ann.account != nil && ann.hasPassword && ann.rules.count == 1 && !ann.sessions.isEmpty && ann.signIns.count == 3
          && ann.permits.count == 1 && ann.grants.count == 1 && ann.boxes.count == 1 && ann.decisions.count == 1
          && ann.screenNames.count == 1 && ann.codes.count == 3 && ann.failures.count == 2, "holds \(ann)")
      let erased = try await stage.erase(stage.ann)
      try expect(erased.rows == ann, "erased \(erased.rows)")
      let left = try await stage.rows(about: stage.ann)
      try expect(left.isEmpty, "left \(left)")
      let others = try await stage.rows(about: stage.bob)
      try expect(others == bob && !bob.isEmpty, "changed \(others)")
      let decisions = try await stage.store.decisions(of: stage.boxDevice)
      try expect(decisions.isEmpty, "left decisions of the box")
      let again = try await stage.erase(stage.ann)
      try expect(again.rows.isEmpty, "erased twice")
      let lines = try await stage.store.audit(after: 0, limit: 99).map(\.entry.action)
      try expect(lines == ["test.erase"], "wrote \(lines)")
    },
    ConformanceCheck(
      "an erasure ends the claims of the viewer's sessions and keeps a box's decisions for other viewers"
    ) {
      stage in
      try await stage.fill()
      let pending = try await stage.claimed(9, device: 9)
      try await stage.signIn(stage.bob, 8, on: stage.boxDevice)
      let erased = try await stage.erase(stage.ann)
      try expect(erased.changes.map(\.record.id) == [pending.record.id], "ended \(erased.changes)")
      let status = try await stage.status(pending.record, second: 9)
      try expect(status == .opened || status == .offered, "the code is \(status)")
      let decisions = try await stage.store.decisions(of: stage.boxDevice)
      try expect(decisions.count == 1, "lost the decisions of the other viewer's box")
    },
    ConformanceCheck("a pseudonym replaces a viewer's name in each audit line, also when it is done in parts") {
      stage in
      let name: AccountName = try ConformanceFixture.name("erased-1")
      let pseudonym = Viewer(provider: stage.local, account: name)
      func line(_ actor: AuditEntry.Actor, _ subject: String, _ detail: String) -> AuditEntry {
        AuditEntry(at: stage.at(1), actor: actor, action: "test", subject: subject, outcome: .refused, detail: detail)
      }
      let others = [
        line(.viewer(stage.bob), "local/annabel", "local/annabel, local/anna, xlocal/ann, local/Ann"),
        line(.service, "pass/ann", "ann"), line(.operator(stage.carl), "local", "local/ann%, local_ann"),
        line(.viewer(Viewer(provider: stage.local, account: nil)), "local", ""),
      ]
      let about = [
        line(.viewer(stage.ann), "code", "REF30, device 1 \"TV\""), line(.service, "local/ann", "from 192.0.2.1"),
        line(.operator(stage.carl), "code", "REF30 for local/ann, device"), line(.viewer(stage.ann), "local/ann", ""),
        line(.service, "box", "made room: local/ann has more than 3 sign-ins"),
        line(.viewer(stage.bob), "x", "local/ann"),
      ]
      for entry in about + others { try await stage.store.append(entry) }
      let found = try await stage.store.auditLines(about: stage.ann, after: 0, limit: 99)
      try expect(found.map(\.entry) == about, "found \(found)")
      var steps: [Int] = []
      var last: Int64 = 0
      while let step = try await stage.store.pseudonymise(
        stage.ann, as: name, after: last, limit: 4,
        audit: { count in
          AuditEntry(at: stage.at(2), actor: .service, action: "test.step", subject: "\(count)")
        })
      {
        steps.append(step.count)
        last = step.last
      }
      try expect(steps == [4, 2], "took \(steps)")
      let lines = try await stage.store.audit(after: 0, limit: 99).map(\.entry)
      let expected = [
        line(.viewer(pseudonym), "code", "erased"), line(.service, pseudonym.title, "erased"),
        line(.operator(stage.carl), "code", pseudonym.title), line(.viewer(pseudonym), pseudonym.title, ""),
        line(.service, "box", pseudonym.title), line(.viewer(stage.bob), "x", pseudonym.title),
      ]
      try expect(Array(lines.prefix(10)) == expected + others, "are \(lines)")
      try expect(lines.suffix(2).map(\.subject) == ["4", "2"], "end with \(lines.suffix(2))")
      let left = try await stage.store.auditLines(about: stage.ann, after: 0, limit: 99)
      try expect(left.isEmpty, "left \(left)")
      // A line may name two viewers.
      _ = try await stage.store.pseudonymise(
        stage.bob, as: try ConformanceFixture.name("erased-2"), after: 0, limit: 99, audit: { _ in others[3] })
      let both = try await stage.store.auditLines(about: stage.bob, after: 0, limit: 99)
      try expect(both.isEmpty, "left \(both)")
    },
    ConformanceCheck("lines that name a box of an erased viewer, but no viewer, lose their detail") { stage in
      @Sendable func line(_ actor: AuditEntry.Actor, _ action: String, _ subject: String, _ detail: String)
        -> AuditEntry
      {
        AuditEntry(at: stage.at(1), actor: actor, action: action, subject: subject, detail: detail)
      }
      let (one, other) = ("0123456789abcdef", "1123456789abcdef")
      let guest = Viewer(provider: stage.local, account: nil)
      let about = [
        line(.device(stage.requestor), "device.visitor", one, "DEMO, visitor \"v-1\", device \(one) \"Hall\""),
        line(.operator(stage.carl), "device.rename", one, "\"Ann's TV\""),
        line(.operator(stage.carl), "code.withdraw", "code", "DEMO, device \(one) \"Hall\""),
        line(.viewer(guest), "code.approve", "code", "DEMO, device \(one)"),
      ]
      let others = [
        line(.device(stage.requestor), "device.visitor", other, "DEMO, visitor \"v-2\""),
        line(.viewer(stage.bob), "code.approve", "code", "DEMO, device \(one) \"Bob's\""),
        line(.service, "device.sign-out", one, "made room for \(other): local/bob has more than 3 sign-ins"),
        line(.operator(stage.carl), "device.rename", one, ""),
      ]
      for entry in about + others { try await stage.store.append(entry) }
      var steps: [Int] = []
      var last: Int64 = 0
      while let step = try await stage.store.eraseDetails(
        ofDevices: [one], after: last, limit: 3, audit: { line(.service, "test.step", "\($0)", "") })
      {
        steps.append(step.count)
        last = step.last
      }
      try expect(steps == [3, 1], "took \(steps)")
      let lines = try await stage.store.audit(after: 0, limit: 99).map(\.entry)
      try expect(Array(lines.prefix(8)) == about.map(\.withoutDetail) + others, "are \(lines)")
      let again = try await stage.store.eraseDetails(ofDevices: [one], after: 0, limit: 9, audit: { _ in others[0] })
      try expect(again == nil, "changed \(again?.count ?? 0) lines again")
    },
  ]
}

extension ConformanceFixture {
  /// Gives Ann a row in each table, and Bob some.
  fileprivate func fill() async throws {
    _ = try await platformBox()
    _ = try await decide(true)
    let (client, signIn) = try await readyToGive()
    _ = try await store.keep(grant(1, client, signIn), at: at(4))
    _ = try await store.record(
      Permit(
        authentication: signIn.authentication.id, resource: try Self.name("news"), issued: at(4), expires: at(5000)),
      keeping: 9, at: at(4))
    try await store.name(Self.screen(signIn), "Ann's room", audit: nil, at: at(4))
    try await self.signIn(ann, 5, on: try hash(1005))
    try await self.signIn(bob, 6, on: try hash(1006))
    _ = try await session(7, as: bob, second: 4)
    for (viewer, number) in [(ann, 1), (bob, 2)] {
      let name = try found(viewer.account, "account")
      _ = try await store.setPassword("hash", of: name, at: local, by: .operator, audit: nil, at: at(1))
      try await put(
        .entitlement(
          Entitlement(
            id: try Self.name("rule-\(number)"), provider: local, scope: .account(name),
            pattern: try found(ResourcePattern("news"), "pattern"), effect: .allow)))
      let source = try found(SourceKey(address: [192, 0, 2, 1]), "source")
      for subject in [LoginSubject.account(local, name), .accountFrom(source, local, name), .source(source)] {
        _ = try await store.recordLoginFailure(of: subject, at: at(4))
      }
    }
    // Setting a password ends sessions.
    _ = try await session(8, as: ann, second: 5)
  }

  /// Signs a viewer in on a device, through a code that an operator approves.
  fileprivate func signIn(_ viewer: Viewer, _ number: Int, on device: DeviceHash) async throws {
    let record = RegistrationRecord(
      id: try Self.name("registration-\(number)"), code: try hash(number), requestor: requestor,
      device: try Self.name("device"), deviceHash: device, rowKey: rowKey,
      flow: PairingFlow(issued: at(0), lifetime: .usual))
    try await reserve(record)
    _ = try await store.approve(record.id, try order(for: viewer, as: number), audit: nil, at: at(2))
  }

  /// Makes a screen key that is unique among the sign-ins of these checks.
  private static let screen: ScreenHasher = { record in
    ScreenHash([UInt8](repeating: record.authentication.id.text.utf8.last ?? 0, count: 32))
      ?? { preconditionFailure("32 bytes") }()
  }

  fileprivate func rows(about viewer: Viewer) async throws -> ViewerRows {
    try await store.rows(about: viewer, screen: Self.screen)
  }

  fileprivate func erase(_ viewer: Viewer) async throws -> ErasedRows {
    try await store.erase(
      viewer, screen: Self.screen,
      audit: AuditEntry(at: at(9), actor: .service, action: "test.erase", subject: "x"), at: at(9))
  }
}
