package import RegentPairing
internal import RegentPlatform

/// The time at which each viewer's attributes last changed, as this process saw it.
///
/// The times are kept in memory, because reading attributes writes nothing to the store. Changes before the start are
/// unknown, so the time of the start is reported for them. With a time that is too late, an app reads once more than
/// necessary. With one that is too early, it would keep outdated attributes.
package final class AttributeChanges: Sendable {
  private struct Seen {
    var attributes: Int
    var changed: Instant
  }

  private struct AttributeChangesState {
    var seen: [AuthenticationID: Seen] = [:]
    /// The earliest time that is reported; changes before it are unknown.
    var floor: Instant
  }

  private let most: Int
  private let state: Locked<AttributeChangesState>

  /// Makes an empty table, without knowledge of changes before the start.
  ///
  /// - Parameters:
  /// - now: The time of the start.
  /// - most: How many sign-ins are remembered; a full table is emptied.
  package init(at now: Instant, most: Int = 100_000) {
    self.most = most
    state = Locked(AttributeChangesState(floor: now))
  }

  /// Notes the current attributes and returns when they last changed.
  ///
  /// - Parameters:
  ///   - attributes: A hash of all attributes, the same for equal attributes in this process.
  ///   - id: The viewer's sign-in.
  ///   - first: The time to assume when this sign-in was not seen before.
  ///   - now: The present time, which is returned when the attributes have changed.
  /// - Returns: the time of the last change.
  package func note(
    _ attributes: Int, of id: AuthenticationID, since first: Instant, at now: Instant
  ) -> Instant {
    state.withLock { state in
      guard let before = state.seen[id] else {
        if state.seen.count >= most { state = AttributeChangesState(floor: now) }
        let changed = max(first, state.floor)
        state.seen[id] = Seen(attributes: attributes, changed: changed)
        return changed
      }
      guard before.attributes != attributes else { return before.changed }
      state.seen[id] = Seen(attributes: attributes, changed: now)
      return now
    }
  }
}
