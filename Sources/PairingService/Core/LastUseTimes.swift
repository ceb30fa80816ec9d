package import RegentPairing
internal import RegentPlatform

/// When devices last asked for their sign-in, as far as this process saw it: what "my screens" shows.
///
/// In memory, because polls write nothing; after a restart a screen shows when it was signed in until it asks again.
package final class LastUseTimes: Sendable {
  private let most: Int
  private let uses = Locked([AuthenticationID: Instant]())

  /// Nothing was seen; a device each, and beyond so many the older half is forgotten.
  package init(most: Int = 200_000) { self.most = most }

  var count: Int { uses.withLock { $0.count } }

  /// A device used its sign-in.
  package func note(_ id: AuthenticationID, at now: Instant) {
    uses.withLock { uses in
      if uses.count >= most, uses[id] == nil {
        let middle = uses.values.sorted()[uses.count / 2]
        uses = uses.filter { $0.value > middle }
      }
      uses[id] = now
    }
  }

  /// The last use that was seen.
  package func of(_ id: AuthenticationID) -> Instant? { uses.withLock { $0[id] } }
}
