package import RegentPairing
internal import RegentPlatform

/// When a viewer's attributes changed last, as far as this process saw it.
///
/// In memory, because reading writes nothing. What changed before the service started is not known any more, so then
/// the time of the start is told: an app that sees a later time reads once more than it had to, one that saw an earlier
/// time would keep what is wrong.
package final class AttributeChanges: Sendable {
  private struct Seen {
    var attributes: Int
    var changed: Instant
  }

  private struct State {
    var seen: [AuthenticationID: Seen] = [:]
    /// Nothing is known of what was before.
    var floor: Instant
  }

  private let most: Int
  private let state: Locked<State>

  /// Nothing was seen before now.
  ///
  /// - Parameters:
  ///   - now: The time of the start.
  ///   - most: A device each; beyond so many all are forgotten.
  package init(at now: Instant, most: Int = 100_000) {
    self.most = most
    state = Locked(State(floor: now))
  }

  /// Notes what the attributes are now, and tells since when.
  ///
  /// - Parameters:
  ///   - attributes: A hash of all of them, the same for the same attributes in this process.
  ///   - id: Whose.
  ///   - first: Since when they are so, when they were never seen before.
  ///   - now: Since when they are so, when they were others before.
  /// - Returns: the time of the last change.
  package func note(
    _ attributes: Int, of id: AuthenticationID, since first: Instant, at now: Instant
  ) -> Instant {
    state.withLock { state in
      guard let before = state.seen[id] else {
        if state.seen.count >= most { state = State(floor: now) }
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
