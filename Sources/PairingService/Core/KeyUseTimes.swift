internal import RegentJSON
package import RegentPairing
internal import RegentPlatform

/// When each key pair last signed a call, to the minute, for `key list`.
///
/// Kept in memory, because calls write nothing to the store; ``Upkeep`` stores it from time to time.
package final class KeyUseTimes: Sendable {
  /// A use less than this after the last one is not noted.
  private static let grain: Duration = .seconds(60)
  private let uses: Locked<[PublicKey: Instant]>

  package init(keptAs text: String? = nil) {
    uses = Locked(text.map(Self.uses) ?? [:])
  }

  private static func uses(in text: String) -> [PublicKey: Instant] {
    var uses: [PublicKey: Instant] = [:]
    for member in (try? JSONValue(reading: text).object)?.members ?? [] {
      guard let key = PublicKey(member.name), let time = member.value.int64 else { continue }
      uses[key] = Instant(milliseconds: time)
    }
    return uses
  }

  /// Whether a use at `now` must be noted after one at `last`.
  ///
  /// A `last` in the future was noted while the clock was wrong.
  static func isNews(after last: Instant, at now: Instant) -> Bool { last > now || now.since(last) >= grain }

  /// Merges what another node has stored; the later use of each key counts.
  package func learn(_ text: String) {
    let others = Self.uses(in: text)
    uses.withLock { $0.merge(others) { max($0, $1) } }
  }

  /// Notes that a key pair signed a call.
  ///
  /// Only for keys that exist; otherwise a client could fill the table.
  package func note(_ key: PublicKey, at now: Instant) {
    uses.withLock { uses in
      if let last = uses[key], !Self.isNews(after: last, at: now) { return }
      uses[key] = now
    }
  }

  /// The last known use of a key.
  package func of(_ key: PublicKey) -> Instant? { uses.withLock { $0[key] } }

  /// The last uses of these keys.
  ///
  /// All other keys are removed from the table.
  package func all(of keys: some Sequence<PublicKey>) -> [PublicKey: Instant] {
    let keys = Set(keys)
    return uses.withLock { uses in
      uses = uses.filter { keys.contains($0.key) }
      return uses
    }
  }

  /// The uses as text, which ``init(keptAs:)`` reads back.
  package static func text(of uses: [PublicKey: Instant]) -> String {
    let members = uses.sorted { $0.key < $1.key }.map {
      JSONObject.Member($0.key.text, .integer($0.value.milliseconds))
    }
    return JSONValue.object(JSONObject(members)).description
  }
}
