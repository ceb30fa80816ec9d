public import PairingStore
public import RegentPairing
import SQLite

// A lock file keeps other services out: there is nobody to learn from, and no duty to share.

extension SQLiteStore {
  /// Never: a second service is kept out.
  public var isShared: Bool { false }

  /// Nobody else writes.
  public func endOfChanges() async throws(StoreError) -> ChangePosition { ChangePosition() }

  /// Nobody else writes.
  public func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    try? await Task.sleep(for: span)
    return ChangePage([], upTo: position)
  }

  /// There is nobody to tell.
  public func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    told(.success(()))
  }

  /// There is nobody to tell.
  public func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    told(.success(()))
  }

  /// There is one, which knows itself.
  public func nodes() async throws(StoreError) -> [NodeRecord] { [] }

  /// Nobody else asks.
  public func report(_ said: String) async throws(StoreError) -> ClusterStatus { ClusterStatus() }

  /// There is nobody to tell.
  public func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool { false }

  /// There is nobody to share it with.
  public func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant)
    async throws(StoreError) -> Bool
  { true }
}

extension WriteContext {
  /// Nobody is told, and what would be told is not even made.
  @inline(__always)
  borrowing func changed(_ change: @autoclosure () -> StoreChange) {}
}
