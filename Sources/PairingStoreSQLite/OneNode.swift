public import PairingStore
public import RegentPairing
import SQLite

// With SQLite the service has a single node: a lock file keeps other services from the database file. So no changes of
// other nodes are read, and no duties are shared.

extension SQLiteStore {
  public var isShared: Bool { false }

  public func endOfChanges() async throws(StoreError) -> ChangePosition { ChangePosition() }

  public func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    try? await Task.sleep(for: span)
    return ChangePage([], upTo: position)
  }

  public func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    told(.success(()))
  }

  public func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    told(.success(()))
  }

  /// The list of nodes; always empty, because a SQLite store has a single node.
  public func nodes() async throws(StoreError) -> [NodeRecord] { [] }

  public func report(_ said: String) async throws(StoreError) -> ClusterStatus { ClusterStatus() }

  public func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool { false }

  /// Assigns a duty to this node; always true, because a SQLite store has a single node, which has every duty.
  public func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant)
    async throws(StoreError) -> Bool
  { true }
}

extension WriteContext {
  /// Records a change for other nodes.
  ///
  /// It does nothing, because a SQLite store has a single node.
  ///
  /// The autoclosure keeps the change from being constructed.
  @inline(__always)
  borrowing func changed(_ change: @autoclosure () -> StoreChange) {}
}
