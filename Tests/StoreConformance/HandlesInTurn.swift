public import PairingStore
internal import Synchronization

/// Uses several handles on one database in turn, so that a value cached in one handle may not hide what another
/// wrote.
public final class HandlesInTurn: ForwardingStore {
  private let handles: [any Store]
  private let turn = Atomic(0)

  /// The handles must be open on the same database.
  public init(_ handles: [any Store]) { self.handles = handles }

  public var target: any Store { handles[turn.wrappingAdd(1, ordering: .relaxed).oldValue % handles.count] }

  /// Each handle counts its own marks, and they cannot be compared with each other.
  public var standingMark: UInt64? { nil }
}
