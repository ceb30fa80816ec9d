package import Pairing
internal import Platform

/// When a viewer's attributes changed last, as far as this process saw it.
///
/// In memory, because reading writes nothing: after a restart the time of the sign-in is told again, until something
/// changes. An app that compares the values themselves is never wrong.
package final class AttributeChanges: Sendable {
  private struct Seen {
    var attributes: Int
    var changed: Instant
  }

  /// A device each; beyond so many all are forgotten, which only makes the times older.
  private static let most = 100_000
  private let seen = Locked([AuthenticationID: Seen]())

  /// Nothing was seen.
  package init() {}

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
    seen.withLock { seen in
      guard let before = seen[id] else {
        if seen.count >= Self.most { seen = [:] }
        seen[id] = Seen(attributes: attributes, changed: first)
        return first
      }
      guard before.attributes != attributes else { return before.changed }
      seen[id] = Seen(attributes: attributes, changed: now)
      return now
    }
  }
}
