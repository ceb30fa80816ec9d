import HTTPTestSupport
import PairingStore
import PostgreSQLStoreTestSupport
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

private let question = "/api/v1/tokens/authn"

/// A store that runs a given action before an approval or an expiry is written.
private final class CrossingStore: ForwardingStore {
  let target: any Store
  private let work = Locked<(@Sendable () async throws -> Void)?>(nil)

  init(_ target: any Store) { self.target = target }

  /// Sets the action that runs before the next write, once.
  func next(_ work: @escaping @Sendable () async throws -> Void) { self.work.withLock { $0 = work } }

  private func happen() async {
    let work = work.withLock { work in
      defer { work = nil }
      return work
    }
    do { try await work?() } catch { Issue.record(error) }
  }

  func approve(_ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> ApprovalResult
  {
    await happen()
    return try await target.approve(id, request, audit: entry, at: now)
  }

  func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    await happen()
    return try await target.expire(id, at: now)
  }
}

private func withCrossing(_ story: (_ nodes: Nodes, _ a: CrossingStore, _ b: CrossingStore) async throws -> Void)
  async throws
{
  try await withDatabaseStores(2) { stores in
    let (a, b) = (CrossingStore(stores[0]), CrossingStore(stores[1]))
    try await story(try await Nodes(on: a, b) { _ in }, a, b)
  }
}

@Suite struct `A code that expires while two nodes use it` {
  @Test func `a box that was told that its code expired is not approved by a node that began before`() async throws {
    try await withCrossing { nodes, store, _ in
      try await nodes.withBoxes { atA, atB in
        let code = try await atA.code()
        nodes.pass(.milliseconds(1_799_999), at: nodes.a)
        store.next {
          // Node A has read the clock, and writes only after node B has told the box.
          nodes.pass(.seconds(2), at: nodes.b)
          let told = try await atB.get(question)
          #expect(told.status == 410)
        }
        await #expect(throws: StoreError.refused(.expired)) { try await nodes.a.approve(code) }
        for box in [atA, atB] { #expect(try await box.get(question).status == 410) }
        for node in [nodes.a, nodes.b] { await Upkeep(node.core).once() }
        #expect(
          [nodes.a, nodes.b].map { $0.core.metrics.now[.codesExpired] } == [1, 0],
          "only the node that made the code counts it")
      }
    }
  }

  @Test func `an approval that is written before the expiry holds at every node`() async throws {
    try await withCrossing { nodes, _, store in
      try await nodes.withBoxes { atA, atB in
        let code = try await atA.code()
        nodes.pass(.seconds(1802), at: nodes.b)
        store.next {
          nodes.a.clock.setAhead(.seconds(-10))
          try await nodes.a.approve(code)
          nodes.a.clock.setAhead(.zero)
        }
        #expect(try await atB.get(question).status == 200)
        #expect(try await atA.get(question).status == 200)
      }
    }
  }

  @Test func `an expiry that another node wrote is counted by the node that made the code`() async throws {
    try await withNodes(on: .memory) { nodes in
      try await nodes.withBoxes { atA, _ in
        let id = try nodes.a.found(try await atA.code())
        nodes.pass(.seconds(1800), at: nodes.a)
        let (a, b) = (nodes.a.core, nodes.b.core)
        #expect(try await b.store.expire(id, at: b.clock.now)?.flow.state == .expired)
        // Does what the follower does with entries of the change log.
        for node in [a, b] { try await node.codeLooks.lookAgain(at: [id]) }
        for node in [a, b] { await Upkeep(node).once() }
        #expect([a, b].map { $0.metrics.now[.codesExpired] } == [1, 0])
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a code that memory shows as pending is read from the store before it is reported as expired`(ground: Ground)
    async throws
  {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, atB in
        let code = try await atA.code()
        let path = "/reggie/v1/REF30/regcode/\(code)"
        #expect(try await atB.get(path)["state"] == "offered")
        nodes.pass(.seconds(1800), at: nodes.b)
        #expect(try await atB.get(path).status == 200, "before the store reports the expiry the code is still pending")
        nodes.a.clock.setAhead(.seconds(-1))
        try await nodes.a.approve(code)
        nodes.a.clock.setAhead(.seconds(1))
        #expect(try await atB.get(path)["state"] == "approved")
      }
    }
  }
}
