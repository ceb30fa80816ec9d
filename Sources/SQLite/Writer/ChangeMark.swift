import Synchronization

/// A counter that advances with every commit that changed certain rows, before the requests of that commit are
/// answered.
///
/// A cache reads the counter before it reads rows, and later compares. If the counter is unchanged, no acknowledged
/// commit has changed such rows since.
final class ChangeMark: Sendable {
  /// Whether a change of a row in this table advances the counter.
  typealias Rule = @Sendable (_ table: String, _ change: DatabaseOptions.RowChange) -> Bool

  private let number = Atomic<UInt64>(0)
  private let counts: Rule

  init(_ counts: @escaping Rule) { self.counts = counts }

  var now: UInt64 { number.load(ordering: .acquiring) }

  /// Whether this change of a row advances the counter.
  func isMoved(by change: DatabaseOptions.RowChange, in table: String) -> Bool { counts(table, change) }

  func move() { number.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
