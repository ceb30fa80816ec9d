import PairingStore
import RegentPairing

extension StoreConformance {
  static let approvalChecks = [
    ConformanceCheck("approving a code creates exactly one authentication") { stage in
      let (record, session) = try await stage.claimed(1)
      let result = try await stage.store.approve(
        record.id, stage.yes(session), audit: nil, at: stage.at(2))
      let made = try found(result.authentication, "authentication")
      try expect(made.authentication.viewer == stage.ann, "is \(made.authentication.viewer)'s")
      try expect(made.authentication.expires == stage.at(2 + 30 * 86_400), "ends at another time")
      try expect(made.registration == record.id && made.device == record.device, "is of another")
      try expect(result.change.record.flow.state.status == .approved, "the code is not approved")
      let all = try await stage.allAuthentications()
      try expect(all == [made], "there are \(all.count)")
    },
    ConformanceCheck("a code can be approved only once") { stage in
      let (record, session) = try await stage.claimed(1)
      _ = try await stage.store.approve(record.id, stage.yes(session), audit: nil, at: stage.at(2))
      for request in try [stage.yes(session, as: 2), stage.order(for: stage.bob, as: 3)] {
        try await expect(.refused(.alreadyApproved)) {
          try await stage.store.approve(record.id, request, audit: nil, at: stage.at(3))
        }
      }
      let all = try await stage.allAuthentications()
      try expect(all.map(\.authentication.id.text) == ["authentication-1"], "there are \(all)")
    },
    ConformanceCheck("an expired code cannot be approved, and the attempt changes nothing") { stage in
      let (record, session) = try await stage.claimed(1)
      for second in stride(from: 100, through: 1700, by: 100) {
        _ = try await stage.store.renew(record.id, by: session, at: stage.at(second))
      }
      let before = try await stage.store.registration(record.id, at: stage.at(1790))
      for request in try [stage.yes(session), stage.order(for: stage.ann)] {
        try await expect(.refused(.expired)) {
          try await stage.store.approve(record.id, request, audit: nil, at: stage.at(1800))
        }
      }
      let after = try await stage.store.registration(record.id, at: stage.at(1801))
      try expect(
        before?.flow.settled(at: stage.at(1801)) == after?.flow.settled(at: stage.at(1801)),
        "changed")
      let all = try await stage.allAuthentications(second: 1801)
      try expect(all.isEmpty, "there are \(all.count) authentications")
    },
    ConformanceCheck("a session whose claim has lapsed cannot approve the code") { stage in
      let (record, session) = try await stage.claimed(1)
      let request = try stage.yes(session)
      try await expect(.refused(.leaseLapsed)) {
        try await stage.store.approve(record.id, request, audit: nil, at: stage.at(121))
      }
    },
    ConformanceCheck("picking a wrong number denies the code for good and creates no sign-in") { stage in
      let match = NumberMatch(number: 42)
      let (record, session) = try await stage.claimed(1, match: match)
      let result = try await stage.store.approve(
        record.id, stage.yes(session, picked: 17), audit: nil, at: stage.at(2))
      try expect(result.authentication == nil, "created an authentication")
      try expect(result.change.record.flow.state.status == .denied, "is not denied")
      let request = try stage.yes(session, picked: 42)
      try await expect(.refused(.denied)) {
        try await stage.store.approve(record.id, request, audit: nil, at: stage.at(3))
      }
      let kept = try await stage.store.registration(record.id, at: stage.at(3))
      try expect(kept?.flow.match == match, "forgot the number")
    },
    ConformanceCheck("approval is refused for a disabled account and for a switched-off integration") { stage in
      let (record, session) = try await stage.claimed(1)
      let request = try stage.yes(session)
      let on = Integration(requestor: stage.requestor, provider: stage.local)
      var off = on
      off.enabled = false
      try await stage.put(.integration(off), replacing: .integration(on))
      try await expect(.notInForce(.switchedOff)) {
        try await stage.store.approve(record.id, request, audit: nil, at: stage.at(2))
      }
      try await stage.put(.integration(on), replacing: .integration(off))
      try await stage.disable(stage.ann)
      // Disabling has ended the session. An operator cannot approve for a disabled account either.
      try await expect(.sessionEnded) {
        try await stage.store.approve(record.id, request, audit: nil, at: stage.at(3))
      }
      let ordered = try stage.order(for: stage.ann)
      try await expect(.notInForce(.accountDisabled)) {
        try await stage.store.approve(record.id, ordered, audit: nil, at: stage.at(3))
      }
      let status = try await stage.status(record, second: 4)
      try expect(status == .opened, "is \(status)")
      let all = try await stage.allAuthentications()
      try expect(all.isEmpty, "there are \(all.count) authentications")
    },
    ConformanceCheck("an operator can approve a pending code, but only for an account that exists") {
      stage in
      let record = try stage.registration(1)
      try await stage.reserve(record)
      let nobody = try stage.order(
        for: Viewer(provider: stage.local, account: ConformanceFixture.name("nobody")))
      try await expect(.notInForce(.accountGone)) {
        try await stage.store.approve(record.id, nobody, audit: nil, at: stage.at(1))
      }
      let guest = try stage.order(for: Viewer(provider: stage.local, account: nil))
      try await expect(.notInForce(.accountGone)) {
        try await stage.store.approve(record.id, guest, audit: nil, at: stage.at(1))
      }
      let result = try await stage.store.approve(
        record.id, stage.order(for: stage.bob), audit: nil, at: stage.at(1))
      try expect(result.authentication?.authentication.viewer == stage.bob, "is another's")
    },
    ConformanceCheck(
      "a new sign-in of a device replaces the earlier one and its permits"
    ) { stage in
      let first = try await stage.signedIn(1)
      let resource = try ConformanceFixture.name("ESPN") as ResourceID
      _ = try await stage.store.record(
        Permit(resource, for: first.authentication, lifetime: .seconds(60), at: stage.at(3)),
        at: stage.at(3))
      let second = try await stage.signedIn(2)
      let all = try await stage.allAuthentications()
      try expect(all == [second], "there are \(all.count)")
      let permit = try await stage.store.permit(first.authentication.id, resource, at: stage.at(4))
      try expect(permit == .none, "the earlier permit is still there")
    },
    ConformanceCheck("the audit line of an approval is written only if the approval succeeds") { stage in
      let (record, session) = try await stage.claimed(1)
      func line(_ text: String) -> AuditEntry {
        AuditEntry(
          at: stage.at(2), actor: .viewer(stage.ann), action: "code.approve", subject: text)
      }
      _ = try await stage.store.approve(
        record.id, stage.yes(session), audit: line("first"), at: stage.at(2))
      _ = try? await stage.store.approve(
        record.id, stage.yes(session, as: 2), audit: line("second"), at: stage.at(3))
      let lines = try await stage.store.audit(after: 0, limit: 10)
      try expect(lines == [NumberedAuditEntry(number: 1, entry: line("first"))], "are \(lines)")
    },
    ConformanceCheck("withdrawing an approved code does not end the sign-in it created") { stage in
      let signedIn = try await stage.signedIn(1)
      let id = try found(signedIn.registration, "registration")
      let change = try await stage.store.withdraw(id, .device, audit: nil, at: stage.at(3))
      try expect(change.record.flow.state == .withdrawn, "is \(change.record.flow.state)")
      let pickUp = try await stage.pickUp(second: 4)
      try expect(pickUp.signIn?.record == signedIn && pickUp.delivery == nil, "got \(pickUp)")
    },
  ]
}
