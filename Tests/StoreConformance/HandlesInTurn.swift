public import PairingStore
internal import Synchronization

/// Several handles on one database as one store: each verb goes to the next of them, so that nothing that one of them
/// keeps in memory may count.
public final class HandlesInTurn: ForwardingStore {
  private let handles: [any Store]
  private let turn = Atomic(0)

  /// One store of several on the same database.
  public init(_ handles: [any Store]) { self.handles = handles }

  public var target: any Store { handles[turn.wrappingAdd(1, ordering: .relaxed).oldValue % handles.count] }

  /// Each handle has a count of its own, which says nothing to the others.
  public var standingMark: UInt64? { nil }
}
