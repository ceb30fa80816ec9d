internal import RegentJSON
package import RegentPairing
internal import RegentPlatform

/// The time at which each key pair last signed a request, to the minute, for `key list`.
///
/// The times are kept in memory, because requests write nothing to the store. ``Upkeep`` stores them from time to time.
package final class KeyUseTimes: Sendable {
  /// A use of a key pair that follows the last noted one within this time is not noted.
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

  /// Whether a use of a key pair at `now` must be noted, when the last noted use was at `last`.
  ///
  /// A `last` in the future was noted while the clock was wrong, so it is replaced.
  static func isNews(after last: Instant, at now: Instant) -> Bool { last > now || now.since(last) >= grain }

  /// Merges the times that another node has stored; the later use of each key pair counts.
  package func learn(_ text: String) {
    let others = Self.uses(in: text)
    uses.withLock { $0.merge(others) { max($0, $1) } }
  }

  /// Notes that a key pair signed a request.
  ///
  /// Call it only for key pairs that exist; otherwise a client could fill the table.
  package func note(_ key: PublicKey, at now: Instant) {
    uses.withLock { uses in
      if let last = uses[key], !Self.isNews(after: last, at: now) { return }
      uses[key] = now
    }
  }

  /// The last known time at which a key pair signed a request; nil when none is known.
  package func of(_ key: PublicKey) -> Instant? { uses.withLock { $0[key] } }

  /// The times at which these key pairs last signed a request.
  ///
  /// All other key pairs are removed from the table.
  package func all(of keys: some Sequence<PublicKey>) -> [PublicKey: Instant] {
    let keys = Set(keys)
    return uses.withLock { uses in
      uses = uses.filter { keys.contains($0.key) }
      return uses
    }
  }

  /// Encodes the times at which key pairs last signed a request as text, which ``init(keptAs:)`` reads.
  package static func text(of uses: [PublicKey: Instant]) -> String {
    let members = uses.sorted { $0.key < $1.key }.map {
      JSONObject.Member($0.key.text, .integer($0.value.milliseconds))
    }
    return JSONValue.object(JSONObject(members)).description
  }
}
