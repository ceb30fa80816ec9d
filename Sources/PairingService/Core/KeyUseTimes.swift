internal import RegentJSON
package import RegentPairing
internal import RegentPlatform

/// When each key pair last signed a call, give or take a minute: what `key list` shows.
///
/// In memory, because calls write nothing; the upkeep writes it down now and then.
package final class KeyUseTimes: Sendable {
  /// Noting the same minute again says nothing new.
  private static let grain: Duration = .seconds(60)
  private let uses: Locked<[PublicKey: Instant]>

  /// What was kept before.
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

  /// Whether a use at `now` says more than one at `last`; one that is yet to come was noted by a clock that was wrong.
  static func isNews(after last: Instant, at now: Instant) -> Bool { last > now || now.since(last) >= grain }

  /// What another node has kept: the later use counts.
  package func learn(_ text: String) {
    let others = Self.uses(in: text)
    uses.withLock { $0.merge(others) { max($0, $1) } }
  }

  /// A key pair signed a call; only keys that exist come here.
  package func note(_ key: PublicKey, at now: Instant) {
    uses.withLock { uses in
      if let last = uses[key], !Self.isNews(after: last, at: now) { return }
      uses[key] = now
    }
  }

  /// The last use that is known.
  package func of(_ key: PublicKey) -> Instant? { uses.withLock { $0[key] } }

  /// All that is known of some keys, and of no others any more.
  package func all(of keys: some Sequence<PublicKey>) -> [PublicKey: Instant] {
    let keys = Set(keys)
    return uses.withLock { uses in
      uses = uses.filter { keys.contains($0.key) }
      return uses
    }
  }

  /// Uses as ``init(keptAs:)`` reads them.
  package static func text(of uses: [PublicKey: Instant]) -> String {
    let members = uses.sorted { $0.key < $1.key }.map {
      JSONObject.Member($0.key.text, .integer($0.value.milliseconds))
    }
    return JSONValue.object(JSONObject(members)).description
  }
}
