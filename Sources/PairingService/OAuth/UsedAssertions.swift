internal import RegentEncodings
internal import RegentJSON
internal import RegentOAuth
package import RegentPairing
internal import RegentPlatform

/// The assertions of clients that were used: each counts once, until its time is over.
///
/// One that says when it was made is refused when that was before the start: a process before this one may have taken
/// it. Those that do not say it, or say a time that was yet to come, are written down at each stop and every minute.
package final class UsedAssertions: Sendable {
  /// Only clients with a key that is registered get here; ten minutes of a hundred a second.
  static let capacity = 65_536
  /// How many those may have together that registered themselves: anybody may be one, and must not take the places of
  /// the clients that operators and statements brought.
  static let strangersCapacity = 16_384
  /// How many of those it takes to fill their places: one has 1,024, which is a question every 0.6 seconds.
  private static let strangersAtLeast = 16

  private let startedAt: Instant
  /// What the processes before had written down: until when each counts.
  private let earlier: [[UInt8]: Instant]
  private let used: Locked<Table>
  private let strangers: Locked<Table>

  package init(
    startingAt start: Instant, keptAs texts: [String] = [], capacity: Int = UsedAssertions.capacity,
    strangers: Int = UsedAssertions.strangersCapacity
  ) {
    startedAt = start
    earlier = texts.map { Self.entries(in: $0, after: start) }.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: max) }
    used = Locked(Table(most: capacity))
    self.strangers = Locked(Table(most: strangers, ofOne: max(strangers / Self.strangersAtLeast, 1)))
  }

  /// How many are remembered, and how many of clients that registered themselves.
  package var counts: (others: Int, strangers: Int) {
    (used.withLock { $0.entries.count }, strangers.withLock { $0.entries.count })
  }

  /// Uses an assertion of a client up; `isStrange` when it registered itself.
  func take(
    _ assertion: ClientAssertion.Checked, of client: ClientID, isStrange: Bool, at now: Instant
  ) throws(OAuthError) {
    if let made = assertion.made, made.second <= startedAt.second {
      throw OAuthError(
        .invalidClient,
        "the assertion was made before this service was started: make one for each request, by a clock that is right")
    }
    guard earlier[assertion.fingerprint] == nil else { throw Self.usedBefore }
    let verdict =
      isStrange
      ? strangers.withLock { $0.take(assertion, of: client, at: now) }
      : used.withLock { $0.take(assertion, of: client, at: now) }
    guard let isFresh = verdict else {
      throw OAuthError(.temporarilyUnavailable, "too many assertions at once: try again in a minute")
    }
    guard isFresh else { throw Self.usedBefore }
  }

  private static let usedBefore = OAuthError(
    .invalidClient, "the assertion was used before: make one for each request")

  /// What ``init(startingAt:keptAs:capacity:strangers:)`` reads; what was read, too, as long as it counts.
  func text(at now: Instant) -> String {
    let kept = [earlier, used.withLock { $0.kept }, strangers.withLock { $0.kept }]
      .reduce(into: [:]) { $0.merge($1, uniquingKeysWith: max) }.filter { now < $0.value + ClientAssertion.tolerance }
    let members = kept.map { JSONObject.Member(Base64URL.encode($0.key), .integer($0.value.milliseconds)) }
    return JSONValue.object(JSONObject(members.sorted { $0.name < $1.name })).description
  }

  private static func entries(in text: String, after now: Instant) -> [[UInt8]: Instant] {
    let members = (try? JSONValue(reading: text, limits: JSONLimits(bytes: 1 << 30)).object)?.members ?? []
    return members.reduce(into: [:]) { entries, member in
      guard let fingerprint = try? Base64URL.decode(member.name), case .integer(let end) = member.value else { return }
      let expires = Instant(milliseconds: end)
      if now < expires + ClientAssertion.tolerance { entries[fingerprint] = expires }
    }
  }

  private struct Table: Sendable {
    struct Entry: Sendable {
      let expires: Instant
      let client: ClientID
      /// Whether a process after this one could not tell by its time that it was used.
      let outlives: Bool
    }

    /// This part of the places is written down: who fills them costs the others no more than that.
    static let written = 8

    let most: Int
    /// How many of them one client may have.
    let ofOne: Int
    private(set) var entries: [[UInt8]: Entry] = [:]
    private var counts: [ClientID: Int] = [:]
    /// When the first of those is over that were there the last time that it was full: before, there is no use in
    /// walking through all of them with each call of a crowd.
    private var nextEnd: Instant?
    private var outliving = 0

    /// What is written down.
    var kept: [[UInt8]: Instant] { entries.filter(\.value.outlives).mapValues(\.expires) }

    init(most: Int, ofOne: Int = .max) {
      self.most = most
      self.ofOne = ofOne
    }

    /// - Returns: whether it was not used before; nil when there is no place.
    mutating func take(_ assertion: ClientAssertion.Checked, of client: ClientID, at now: Instant) -> Bool? {
      // What is there counts no more in any case: one that is over is refused before it comes here.
      guard entries[assertion.fingerprint] == nil else { return false }
      if !hasRoom(for: client), nextEnd.map({ $0 <= now }) ?? true { forget(at: now) }
      guard hasRoom(for: client) else { return nil }
      let looksNew = assertion.made.map { $0.second > now.second } ?? true
      let mostWritten = max(most / Self.written, 1)
      if looksNew, outliving >= mostWritten, nextEnd.map({ $0 <= now }) ?? true { forget(at: now) }
      let outlives = looksNew && outliving < mostWritten
      if outlives { outliving += 1 }
      entries[assertion.fingerprint] = Entry(expires: assertion.expires, client: client, outlives: outlives)
      counts[client, default: 0] += 1
      return true
    }

    private func hasRoom(for client: ClientID) -> Bool {
      entries.count < most && counts[client, default: 0] < ofOne
    }

    private mutating func forget(at now: Instant) {
      entries = entries.filter { now < $0.value.expires + ClientAssertion.tolerance }
      nextEnd = entries.values.map(\.expires).min().map { $0 + ClientAssertion.tolerance }
      outliving = entries.values.count { $0.outlives }
      counts = entries.values.reduce(into: [:]) { $0[$1.client, default: 0] += 1 }
    }
  }
}
