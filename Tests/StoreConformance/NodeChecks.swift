import PairingStore
import RegentPairing

extension StoreConformance {
  static let nodeChecks = [
    ConformanceCheck("registrations are found by id, by code and by device until they are forgotten") { stage in
      let (first, other) = (try stage.registration(1), try stage.registration(2, device: 2))
      try await stage.reserve(first)
      try await stage.reserve(other)
      let missing: RegistrationID = try ConformanceFixture.name("missing")
      let found = try await stage.store.registrations([other.id, missing, first.id], at: stage.at(1))
      try expect(Set(found) == [first, other], "found \(found)")
      let none = try await stage.store.registrations([], at: stage.at(1))
      try expect(none.isEmpty, "found \(none)")
      let under = try await stage.store.registration(under: first.code, at: stage.at(1))
      try expect(under == first, "found \(String(describing: under))")
      let unknown = try await stage.store.registration(under: stage.hash(99), at: stage.at(1))
      try expect(unknown == nil, "found \(String(describing: unknown))")
      let own = try await stage.store.registration(of: other.deviceHash, at: stage.requestor, at: stage.at(1))
      try expect(own == other, "found \(String(describing: own))")
      let late = other.flow.forgettable
      let forgotten = try await stage.store.registrations([first.id, other.id], at: late)
      try expect(forgotten.isEmpty, "remembered \(forgotten)")
      let over = try await stage.store.registration(of: other.deviceHash, at: stage.requestor, at: late)
      try expect(over == nil, "remembered \(String(describing: over))")
    },
    ConformanceCheck("of a device's codes the pending one is returned, or else one that ended") { stage in
      let earlier = try stage.registration(1)
      let newer = try stage.registration(2)
      try await stage.reserve(earlier)
      try await stage.reserve(newer)
      func answering() async throws -> RegistrationID? {
        let record = try await stage.store.registration(of: newer.deviceHash, at: stage.requestor, at: stage.at(3))
        return record?.id
      }
      let waiting = try await answering()
      try expect(waiting == newer.id, "answered \(String(describing: waiting))")
      _ = try await stage.store.withdraw(newer.id, .operator, audit: nil, at: stage.at(2))
      let ended = try await answering()
      try expect(ended != nil, "nothing answered")
    },
    ConformanceCheck("a code is expired once, and cannot be approved afterwards") { stage in
      let (record, session) = try await stage.claimed(1)
      let end = record.flow.expires
      let early = try await stage.other.expire(record.id, at: end - .milliseconds(1))
      try expect(early?.flow.state.isPending == true, "ended early: \(String(describing: early))")
      let ended = try await stage.other.expire(record.id, at: end)
      try expect(ended?.flow.state == .expired, "ended: \(String(describing: ended))")
      let again = try await stage.store.expire(record.id, at: end)
      try expect(again == ended, "ended again: \(String(describing: again))")
      let request = try stage.yes(session)
      var refusal: StoreError?
      do throws(StoreError) {
        _ = try await stage.store.approve(record.id, request, audit: nil, at: stage.at(2))
      } catch {
        refusal = error
      }
      try expect(refusal == .refused(.expired), "approved afterwards: \(String(describing: refusal))")
      let forgotten = try await stage.store.expire(record.id, at: record.flow.forgettable)
      try expect(forgotten == nil, "remembered \(String(describing: forgotten))")
    },
    ConformanceCheck("the count of live codes includes those of all nodes and no ended ones") { stage in
      for (number, store) in [stage.store, stage.other, stage.other].enumerated() {
        let record = try stage.registration(number, device: number)
        _ = try await store.reserve(record, within: LiveCodeLimits(100), at: stage.at(0))
      }
      _ = try await stage.store.withdraw(stage.registration(0).id, .operator, audit: nil, at: stage.at(1))
      let live = try await stage.store.liveCodes(at: stage.at(2))
      let late = try await stage.other.liveCodes(at: stage.registration(1).flow.expires)
      try expect(live == 2 && late == 0, "\(live), and \(late) when their time is over")
    },
    ConformanceCheck("an approved code does not expire") { stage in
      let (record, session) = try await stage.claimed(1)
      let approved = try await stage.store.approve(record.id, try stage.yes(session), audit: nil, at: stage.at(2))
      let found = try await stage.other.expire(record.id, at: record.flow.expires)
      try expect(found == approved.change.record, "found \(String(describing: found))")
    },
    ConformanceCheck("one node at a time holds a lease, and another gets it when it has expired") { stage in
      guard stage.store.isShared else { return }
      let (one, other): (NodeID, NodeID) = (try ConformanceFixture.name("one"), try ConformanceFixture.name("other"))
      func take(_ node: NodeID, from store: any Store, _ second: Int, for span: Duration = .seconds(30)) async throws
        -> Bool
      {
        let isTaken = try await store.take(.upkeep, as: node, for: span, at: stage.at(second))
        return isTaken
      }
      let taken = try await take(one, from: stage.store, 0)
      let refused = try await take(other, from: stage.other, 10)
      // Taking it for zero seconds gives the lease back.
      let kept = try await take(one, from: stage.store, 20, for: .zero)
      let next = try await take(other, from: stage.other, 21)
      try expect(taken && !refused && kept && next, "\(taken) \(refused) \(kept) \(next)")
    },
    ConformanceCheck("the change log names each change once to a reader") { stage in
      guard stage.store.isShared else { return }
      let start = try await stage.other.endOfChanges()
      let record = try stage.registration(1)
      try await stage.reserve(record)
      let page = try await stage.other.changes(after: start, waiting: .zero)
      try expect(page.isWhole && page.changes == [.code(record.id)], "named \(page)")
      let again = try await stage.other.changes(after: page.position, waiting: .zero)
      try expect(again.changes.isEmpty && again.isWhole, "named again \(again)")
    },
    ConformanceCheck("the change log has every change that a node may hold in its cache") { stage in
      guard stage.store.isShared else { return }
      var position = try await stage.other.endOfChanges()
      func heard(_ what: Set<StoreChange>, _ step: String) async throws {
        let page = try await stage.other.changes(after: position, waiting: .seconds(5))
        position = page.position
        try expect(page.isWhole && page.changes.isSuperset(of: what), "\(step): \(page.changes)")
      }
      let (record, session) = try await stage.claimed(1)
      try await heard([.code(record.id)], "claimed")
      let device = StoreChange.signIn(stage.requestor, record.deviceHash)
      _ = try await stage.store.approve(record.id, try stage.yes(session), audit: nil, at: stage.at(2))
      try await heard([.code(record.id), device], "approved")
      _ = try await stage.pickUp(awaitsDelivery: true, second: 3)
      try await heard([.code(record.id)], "delivered")
      _ = try await stage.store.signOut(requestor: stage.requestor, device: record.deviceHash, at: stage.at(4))
      try await heard([device], "signed out")
      let next = try stage.registration(2, second: 5)
      try await stage.reserve(next, second: 5)
      try await heard([.code(next.id)], "reserved")
      _ = try await stage.store.withdraw(next.id, .operator, audit: nil, at: stage.at(6))
      try await heard([.code(next.id)], "withdrawn")
      try await stage.store.forgetCodes([next.id])
      try await heard([.code(next.id)], "forgotten")
      _ = try await stage.store.signInWithoutCode(stage.guest(7, at: stage.pass), at: stage.at(7))
      try await heard([device], "signed in without a code")
      try await stage.decide(true)
      try await heard([.box(stage.boxDevice)], "decided")
      try await stage.put(.provider(Provider(id: try ConformanceFixture.name("more"), name: "More", kind: .local)))
      try await heard([.provisioning], "provisioned")
      try await stage.store.setState(of: stage.rowKey, to: .retired, audit: nil, at: stage.at(8))
      try await heard([.provisioning], "retired a key")
      _ = try await stage.store.remove(.provider(ConformanceFixture.name("more")), audit: nil, at: stage.at(9))
      try await heard([.provisioning], "removed")
      let key = SigningKeyRecord(
        id: try ConformanceFixture.name("key-1"), privateKey: StoredSecret([1]), publicKey: #"{"kty":"RSA"}"#,
        created: stage.at(10), signsFrom: stage.at(10))
      try await stage.store.add(key, audit: nil, at: stage.at(10))
      try await heard([.signingKeys], "added a signing key")
      try await stage.store.retireSigningKey(key.id, neededUntil: stage.at(20), audit: nil, at: stage.at(11))
      try await heard([.signingKeys], "retired a signing key")
    },
    ConformanceCheck("a refused change is not in the change log") { stage in
      guard stage.store.isShared else { return }
      let record = try stage.registration(1)
      try await stage.reserve(record)
      let start = try await stage.other.endOfChanges()
      try await expect(.notFound(what: "code")) {
        try await stage.store.open(ConformanceFixture.name("missing"), at: stage.at(1))
      }
      try await expect(.codeTaken) { try await stage.reserve(stage.registration(1, device: 2)) }
      let page = try await stage.other.changes(after: start, waiting: .zero)
      try expect(page.changes.isEmpty && page.isWhole, "named \(page)")
    },
    ConformanceCheck("the nonces that one node used reach another node once") { stage in
      guard stage.store.isShared else { return }
      let start = try await stage.other.endOfChanges()
      let keys: [PublicKey] = [stage.rowKey, try ConformanceFixture.name("another")]
      let used = (0..<40).map { number in
        UsedNonce(key: keys[number % 2], second: Int64(number) - 3, mark: UInt64.max - UInt64(number))
      }
      try await stage.store.share(Array(used.prefix(10)))
      try await stage.store.share(Array(used.dropFirst(10)))
      let page = try await stage.other.changes(after: start, waiting: .seconds(5))
      try expect(Set(page.nonces) == Set(used) && page.nonces.count == 40, "told \(page.nonces.count)")
      let again = try await stage.other.changes(after: page.position, waiting: .zero)
      try expect(again.nonces.isEmpty, "told again \(again.nonces)")
    },
    ConformanceCheck("wrong guesses that one node saw reach another node once, and also a node that starts later") {
      stage in
      guard stage.store.isShared else { return }
      let start = try await stage.other.endOfChanges()
      let four = try found(SourceKey(address: [192, 0, 2, 1]), "source")
      let six = try found(SourceKey(address: [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 12)), "source")
      let spaced = Viewer(provider: stage.local, account: try ConformanceFixture.name("ann and bob"))
      let kinds: [WrongGuess.Kind] = [
        .phone(nil), .phone(spaced), .phone(Viewer(provider: stage.pass, account: nil)), .app(stage.requestor), .client,
        .program, .enrolment,
      ]
      let wrong = kinds.enumerated().map { number, kind in
        WrongGuess(kind, from: number % 2 == 0 ? four : six, mark: number == 0 ? nil : .min + Int64(number))
      }
      try await stage.store.share(wrong)
      let page = try await stage.other.changes(after: start, waiting: .seconds(5))
      let heard = page.guesses.map { WrongGuess($0.kind, from: $0.source, mark: $0.mark) }
      try expect(heard == wrong, "told \(page.guesses)")
      try expect(page.guesses.allSatisfy { $0.age >= .zero && $0.age < .seconds(60) }, "so old: \(page.guesses)")
      let again = try await stage.other.changes(after: page.position, waiting: .zero)
      try expect(again.guesses.isEmpty, "told again \(again.guesses)")
      let anew = try await stage.other.changes(after: stage.other.endOfChanges(), waiting: .seconds(5))
      try expect(anew.guesses.count == wrong.count, "told whoever begins \(anew.guesses)")
    },
  ]
}
