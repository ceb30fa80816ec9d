import Synchronization

/// A counter that advances with every commit that changed certain rows, before the requests of that commit are
/// answered.
///
/// To check whether cached rows are still current, read the counter, read the rows, and later compare the counter. If
/// it is unchanged, no commit that has been acknowledged since has changed such rows.
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
