package import RegentPairing
internal import RegentPlatform

/// The time at which devices last asked for their sign-in, as this process saw it.
///
/// The page with the viewer's screens shows it.
///
/// The times are kept in memory, because polls write nothing to the store. After a restart, the page shows when a
/// screen was signed in until its device asks again.
package final class LastUseTimes: Sendable {
  private let most: Int
  private let uses = Locked([AuthenticationID: Instant]())

  /// Creates an empty table for at most `most` sign-ins.
  ///
  /// When the table is full, the older half of its entries is removed.
  package init(most: Int = 200_000) { self.most = most }

  var count: Int { uses.withLock { $0.count } }

  /// Notes that a device used its sign-in now.
  package func note(_ id: AuthenticationID, at now: Instant) {
    uses.withLock { uses in
      if uses.count >= most, uses[id] == nil {
        let middle = uses.values.sorted()[uses.count / 2]
        uses = uses.filter { $0.value > middle }
      }
      uses[id] = now
    }
  }

  /// The time at which this process last saw the sign-in used; nil when it has not.
  package func of(_ id: AuthenticationID) -> Instant? { uses.withLock { $0[id] } }
}
