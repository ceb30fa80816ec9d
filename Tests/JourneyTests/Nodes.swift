import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import PostgreSQLStoreTestSupport
import RegentPairing
import RegentPlatform
import ServiceTestSupport

@testable import PairingService

/// Two nodes of one service that share a store.
struct Nodes: Sendable {
  let a: TestService
  let b: TestService

  init(on store: any Store, _ other: any Store, _ options: (inout ServiceOptions) -> Void) async throws {
    a = try await TestService(
      on: store,
      options: {
        $0.node = NodeID("a")
        options(&$0)
      })
    b = try await TestService(joining: a, on: other, as: "b")
  }

  /// Runs a test body while each node follows the changes of the other.
  func hearing(_ story: () async throws -> Void) async throws {
    var following: [Task<Void, Never>] = []
    for node in [a, b] {
      let follower = NodeFollower(node.core)
      // The first step reads everything, so that the body starts with both nodes up to date.
      let position = try await follower.step(from: nil)
      following.append(Task { await follower.run(from: position) })
    }
    defer { for task in following { task.cancel() } }
    try await story()
  }

  /// Lets time pass during which both nodes learned that there are no changes.
  func pass(_ span: Duration, at node: TestService) {
    node.clock.pass(span)
    for one in [a, b] { one.core.nodeChangeFeed.note() }
  }

  /// Runs a test body with a box at each of the two nodes.
  func withBoxes(_ story: (_ atA: Box, _ atB: Box) async throws -> Void) async throws {
    try await TestTransport.inProcess.withClient(of: try a.router()) { one in
      try await TestTransport.inProcess.withClient(of: try b.router()) { other in
        try await story(Box(service: a, client: one), Box(service: b, client: other))
      }
    }
  }
}

/// A client that sends each request to the next of several clients.
final class InTurn: TestClient {
  private let clients: [any TestClient]
  private let turn = Locked(0)

  init(_ clients: [any TestClient]) { self.clients = clients }

  func send(_ request: TestRequest) async throws -> TestResponse {
    let place = turn.withLock { turn in
      turn += 1
      return turn
    }
    return try await clients[place % clients.count].send(request)
  }
}

/// What the nodes share.
enum Ground: CaseIterable {
  case memory
  /// A PostgreSQL database, with a handle for each node.
  case server
}

func withNodes(
  on ground: Ground, options: @Sendable (inout ServiceOptions) -> Void = { _ in },
  _ story: (Nodes) async throws -> Void
) async throws {
  switch ground {
  case .memory:
    let store = MemoryStore(isShared: true)
    try await story(try await Nodes(on: store, store, options))
  case .server:
    try await withDatabaseStores(2) { stores in
      try await story(try await Nodes(on: stores[0], stores[1], options))
    }
  }
}
