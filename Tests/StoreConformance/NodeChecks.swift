import PairingStore
import RegentPairing

extension StoreConformance {
  static let nodeChecks = [
    ConformanceCheck("registrations are found by their ids, by their code and by their device") { stage in
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
    ConformanceCheck("for a device answers the code that waits, else the newest") { stage in
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
    ConformanceCheck("one node has a duty, and another when its time is over") { stage in
      guard stage.store.isShared else { return }
      let (one, other): (NodeID, NodeID) = (try ConformanceFixture.name("one"), try ConformanceFixture.name("other"))
      func take(_ node: NodeID, _ second: Int) async throws -> Bool {
        let isTaken = try await stage.store.take(.upkeep, as: node, for: .seconds(30), at: stage.at(second))
        return isTaken
      }
      let taken = try await take(one, 0)
      let refused = try await take(other, 10)
      let kept = try await take(one, 20)
      try expect(taken && !refused && kept, "\(taken) \(refused) \(kept)")
    },
    ConformanceCheck("the log of changes names what was written, and nothing twice that was read") { stage in
      guard stage.store.isShared else { return }
      let start = try await stage.store.endOfChanges()
      let record = try stage.registration(1)
      try await stage.reserve(record)
      let page = try await stage.store.changes(after: start, waiting: .zero)
      try expect(page.isWhole && page.changes.contains(.code(record.id)), "named \(page)")
      let again = try await stage.store.changes(after: page.position, waiting: .zero)
      try expect(again.changes.isEmpty, "named again \(again)")
    },
  ]
}
