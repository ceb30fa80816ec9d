import PairingStore
import RegentPairing

extension StoreConformance {
  static let filterChecks = [
    ConformanceCheck("a list of sign-ins obeys every part of its filter on every page") { stage in
      var all: [AuthenticationRecord] = []
      for number in 1...4 { all.append(try await stage.signedIn(number, device: number)) }
      func list(_ change: (inout AuthenticationFilter) -> Void) async throws -> [AuthenticationRecord] {
        var (filter, found) = (AuthenticationFilter(), [AuthenticationRecord]())
        change(&filter)
        while true {
          let page = try await stage.store.authentications(
            filter, after: found.last?.authentication.id, limit: 1, at: stage.at(3))
          guard !page.isEmpty, found.count < 99 else { return found }
          found += page
        }
      }
      let (ann, bob) = (stage.ann, try ConformanceFixture.name("nobody") as AccountName)
      for requestor in [nil, stage.requestor] {
        let what = requestor == nil ? "of all" : "of one requestor"
        func expectAll(_ change: (inout AuthenticationFilter) -> Void, _ part: String) async throws {
          let found = try await list {
            $0.requestor = requestor
            change(&$0)
          }
          try expect(found == all, "\(part) \(what): \(found)")
        }
        func expectNone(_ change: (inout AuthenticationFilter) -> Void, _ part: String) async throws {
          let found = try await list {
            $0.requestor = requestor
            change(&$0)
          }
          try expect(found.isEmpty, "\(part) \(what): \(found)")
        }
        try await expectAll({ $0.account = ann.account }, "account")
        try await expectAll({ ($0.provider, $0.account) = (ann.provider, ann.account) }, "both")
        try await expectAll({ $0.provider = ann.provider }, "provider")
        try await expectAll({ ($0.since, $0.before) = (stage.at(2), stage.at(3)) }, "time")
        try await expectNone({ $0.account = bob }, "another account")
        for one in all {
          let found = try await list { ($0.requestor, $0.id) = (requestor, one.authentication.id) }
          try expect(found == [one], "one \(what): \(found)")
        }
        try await expectNone({ ($0.account, $0.id) = (bob, all.first?.authentication.id) }, "one of another account")
        try await expectNone({ $0.provider = try? ConformanceFixture.name("nowhere") }, "another provider")
        try await expectNone({ $0.since = stage.at(3) }, "later")
        try await expectNone({ $0.before = stage.at(2) }, "earlier")
        try await expectNone({ ($0.account, $0.before) = (ann.account, stage.at(2)) }, "account, earlier")
        try await expectNone({ $0.visitorID = "somebody" }, "another visitor")
      }
    },
    ConformanceCheck("an account's sign-ins are limited, and the one unused for longest is ended and audited") {
      stage in
      for number in 1...4 {
        let code = try stage.registration(number, device: number)
        try await stage.reserve(code)
        _ = try await stage.store.approve(
          code.id, try stage.order(for: stage.ann, as: number), audit: nil, at: stage.at(number))
      }
      let other = try stage.registration(5, device: 5)
      try await stage.reserve(other)
      _ = try await stage.store.approve(other.id, try stage.order(for: stage.bob, as: 5), audit: nil, at: stage.at(5))
      let all = try await stage.store.authentications(AuthenticationFilter(), after: nil, limit: 9, at: stage.at(5))
      let new = try found(all.first { $0.authentication.id.text == "authentication-4" }, "the new one")
      // The first sign-in was used recently. The second has a time of use in the future, as from a wrong clock, and
      // so counts as unused.
      let uses = ["authentication-1": stage.at(6), "authentication-2": stage.at(99)]
      func makeRoom(_ most: Int) async throws -> [String] {
        let room = SignInRoom(most: most) { uses[$0.text] }
        return try await stage.store.makeRoom(
          besides: new, room,
          audit: { record in
            AuditEntry(at: stage.at(7), actor: .service, action: "room", subject: record.authentication.id.text)
          }, at: stage.at(7)
        ).map(\.authentication.id.text)
      }
      let enough = try await makeRoom(4)
      try expect(enough.isEmpty, "four of four: \(enough)")
      let first = try await makeRoom(2)
      try expect(first == ["authentication-2", "authentication-3"], "two of four: \(first)")
      let again = try await makeRoom(2)
      try expect(again.isEmpty, "once more: \(again)")
      // The new sign-in and those of other accounts are never ended.
      let one = try await makeRoom(0)
      try expect(one == ["authentication-1"], "one at least: \(one)")
      let left = try await stage.store.authentications(AuthenticationFilter(), after: nil, limit: 9, at: stage.at(7))
      try expect(left.map(\.authentication.id.text) == ["authentication-4", "authentication-5"], "left: \(left)")
      let lines = try await stage.store.audit(after: 0, limit: 99).map(\.entry).filter { $0.action == "room" }
      try expect(
        lines.map(\.subject) == ["authentication-2", "authentication-3", "authentication-1"], "lines: \(lines)")
    },
    ConformanceCheck("boxes are found by their visitor id, whatever characters it has") { stage in
      try await stage.signedIn(1)
      let visitors = ["visitor", "a \"quoted\" %_' one", "ü\u{0}\u{1}"]
      for (place, visitor) in visitors.enumerated() {
        let guest = try stage.guest(10 + place, at: stage.pass, device: 10 + place)
        let record = AuthenticationRecord(
          authentication: guest.authentication, device: guest.device, deviceHash: guest.deviceHash,
          rowKey: guest.rowKey, about: DeviceDescription(visitorID: visitor))
        _ = try await stage.store.signInWithoutCode(record, at: stage.at(2))
      }
      for (place, visitor) in visitors.enumerated() {
        var filter = AuthenticationFilter()
        filter.visitorID = visitor
        let found = try await stage.store.authentications(filter, after: nil, limit: 9, at: stage.at(3))
        try expect(
          found.map(\.authentication.id.text) == ["authentication-\(10 + place)"], "\(visitor): \(found)")
      }
    },
  ]
}
