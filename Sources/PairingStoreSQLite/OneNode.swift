public import PairingStore
public import RegentPairing
import SQLite

// A lock file keeps other services from the database file, so there are no other nodes to hear from or to share duties
// with.

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

  /// Empty: the only node needs no list of nodes.
  public func nodes() async throws(StoreError) -> [NodeRecord] { [] }

  public func report(_ said: String) async throws(StoreError) -> ClusterStatus { ClusterStatus() }

  public func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool { false }

  /// Always true: the only node has every duty.
  public func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant)
    async throws(StoreError) -> Bool
  { true }
}

extension WriteContext {
  /// Does nothing.
  ///
  /// The autoclosure keeps the change from being constructed.
  @inline(__always)
  borrowing func changed(_ change: @autoclosure () -> StoreChange) {}
}
