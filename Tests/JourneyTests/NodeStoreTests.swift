import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

private let question = "/api/v1/tokens/authn"

/// A store that records the reads that a poll causes.
private final class CountedStore: ForwardingStore {
  let target: any Store
  private let asked = Locked<[String]>([])

  init(_ target: any Store) { self.target = target }

  func take() -> [String] {
    asked.withLock { asked in
      defer { asked = [] }
      return asked
    }
  }

  func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    asked.withLock { $0.append("pick up") }
    return try await target.pickUp(
      requestor: requestor, device: device, of: owner, awaitsDelivery: awaitsDelivery, at: now)
  }

  func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?
  {
    asked.withLock { $0.append("look") }
    return try await target.registration(of: device, at: requestor, at: now)
  }
}

@Suite struct `Reads of the shared store` {
  @Test func `the numbers that a single service counted on the day of its move to nodes are counted once`() async throws
  {
    let store = MemoryStore(isShared: true)
    let now = TestClock().service.now
    var before = DayNumbers(from: now)
    before.count(.codesStarted, 5, at: now)
    try await store.keepNumbers(before.text(at: now), as: .day)
    let nodes = try await Nodes(on: store, store) { _ in }
    let third = try await TestService(joining: nodes.a, as: "c")
    try await nodes.withBoxes { atA, atB in
      for (number, box) in [atA, atB].enumerated() {
        var box = box
        box.device = "box-\(number)"
        _ = try await box.code()
      }
    }
    for node in [nodes.a, nodes.b, third] { await Upkeep(node.core).keepEverything() }
    for node in [nodes.a, nodes.b, third, try await TestService(restarting: nodes.b, on: store)] {
      let stats = try await AdminSocket(node.core).send("GET", "/v1/stats").text
      #expect(stats.contains(#""started":7,"#), "\(stats)")
    }
  }

  @Test func `a code of another node is looked up once and then polled without the store`() async throws {
    let store = CountedStore(MemoryStore(isShared: true))
    let nodes = try await Nodes(on: store.target, store) { _ in }
    try await nodes.withBoxes { atA, atB in
      let code = try await atA.code()
      _ = store.take()
      #expect(try await atB.get(question).status == 404)
      #expect(store.take() == ["pick up", "look"])
      for _ in 1...3 { #expect(try await atB.get(question).status == 404) }
      #expect(store.take() == [])
      // The remembered state does not hide a later approval.
      try await nodes.hearing {
        try await nodes.a.approve(code)
        try await eventually("node B learns of the approval") { try await atB.get(question).status == 200 ? true : nil }
      }
    }
  }
}
