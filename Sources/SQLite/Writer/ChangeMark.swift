import Synchronization

/// A number that moves on with every commit that changed certain rows, before anybody is told of it.
///
/// Whoever takes the number, then reads, and later finds the number still the same, has read what still is: a commit
/// that he did not see would have moved it, and one that is still on its way has been promised to nobody.
final class ChangeMark: Sendable {
  /// What happens to a row.
  typealias Rule = @Sendable (_ table: String, _ change: DatabaseOptions.RowChange) -> Bool

  private let number = Atomic<UInt64>(0)
  private let counts: Rule

  init(_ counts: @escaping Rule) { self.counts = counts }

  /// The number now.
  var now: UInt64 { number.load(ordering: .acquiring) }

  /// Whether a change of a row moves the number on.
  func isMoved(by change: DatabaseOptions.RowChange, in table: String) -> Bool { counts(table, change) }

  func move() { number.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
