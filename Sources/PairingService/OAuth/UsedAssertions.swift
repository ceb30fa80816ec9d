internal import RegentEncodings
internal import RegentJSON
internal import RegentOAuth
package import RegentPairing
internal import RegentPlatform

/// The client assertions that were used.
///
/// Each one is accepted once.
///
/// An assertion with an issue time before the start of this process is refused, because an earlier process may have
/// accepted it. Used assertions without an issue time, or with one in the future, are stored every minute and when the
/// service stops.
package final class UsedAssertions: Sendable {
  /// The maximum number of remembered assertions: 100 assertions/s × 10 min.
  ///
  /// Only assertions of clients with a registered key are remembered.
  static let capacity = 65_536
  /// The maximum number of remembered assertions of all clients that registered themselves.
  ///
  /// An attacker can register such clients. They must not take the places of clients that operators created or that
  /// have a software statement.
  static let strangersCapacity = 16_384

  private let startedAt: Instant
  /// The used assertions that earlier processes stored, with their expiry times.
  private let earlier: [[UInt8]: Instant]
  private let used: Locked<Table>
  private let strangers: Locked<Table>

  package init(
    startingAt start: Instant, keptAs texts: [String] = [], capacity: Int = UsedAssertions.capacity,
    strangers: Int = UsedAssertions.strangersCapacity
  ) {
    startedAt = start
    earlier = texts.map { Self.entries(in: $0, after: start) }.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: max) }
    // While less than half of the table is used, one client may use any number of places, so that a busy API of an
    // operator works. After that, a client may use at most a sixteenth of the table.
    used = Locked(Table(most: capacity, sharedFrom: capacity / 2))
    self.strangers = Locked(Table(most: strangers, sharedFrom: 0))
  }

  /// The number of used assertions in memory: of clients that registered themselves (`strangers`), and of all others.
  package var counts: (others: Int, strangers: Int) {
    (used.withLock { $0.entries.count }, strangers.withLock { $0.entries.count })
  }

  /// Marks an assertion as used; `isStrange` says that its client registered itself.
  func take(
    _ assertion: ClientAssertion.Checked, of client: ClientID, isStrange: Bool, at now: Instant
  ) throws(OAuthError) {
    if let made = assertion.made, made.second <= startedAt.second {
      throw OAuthError(
        .invalidClient,
        "the assertion is from before the service started: make a new assertion for each request, and check your clock")
    }
    guard earlier[assertion.fingerprint] == nil else { throw Self.usedBefore }
    let verdict =
      isStrange
      ? strangers.withLock { $0.take(assertion, of: client, at: now) }
      : used.withLock { $0.take(assertion, of: client, at: now) }
    guard let isFresh = verdict else {
      throw OAuthError(
        .temporarilyUnavailable, "the service received too many assertions at once: try again in a minute")
    }
    guard isFresh else { throw Self.usedBefore }
  }

  private static let usedBefore = OAuthError(
    .invalidClient, "the assertion was used before: make a new assertion for each request")

  /// The used assertions as text, which ``init(startingAt:keptAs:capacity:strangers:)`` reads.
  ///
  /// It includes unexpired assertions that were read from the text of earlier processes.
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
      /// Whether the used assertion must be stored, because a later process could not tell from its issue time that it
      /// was used.
      let outlives: Bool
    }

    /// Assertions that must be stored may use one eighth of the places.
    ///
    /// So a client that creates many of them causes a limited number of writes.
    static let written = 8

    let most: Int
    /// When this many places are taken, each client may use only its share.
    let sharedFrom: Int
    /// The share of one client: a sixteenth of the places.
    ///
    /// A client that registered itself has 1,024 places, enough for an assertion every 0.6 seconds. A client of a
    /// hostile requestor leaves room for the clients of the others.
    private var ofOne: Int { max(most / 16, 1) }
    private(set) var entries: [[UInt8]: Entry] = [:]
    private var counts: [ClientID: Int] = [:]
    /// The time at which the first remembered assertion expires, as of the last time the table was full.
    ///
    /// Before that time, it would be useless to search a full table for expired entries, and each call would do so.
    private var nextEnd: Instant?
    private var outliving = 0

    /// The used assertions that must be stored, with their expiry, so that a later process refuses them.
    var kept: [[UInt8]: Instant] { entries.filter(\.value.outlives).mapValues(\.expires) }

    init(most: Int, sharedFrom: Int) {
      self.most = most
      self.sharedFrom = sharedFrom
    }

    /// Marks an assertion of a client as used.
    ///
    /// - Returns: whether the assertion was not used before; nil when there is no place to remember it.
    mutating func take(_ assertion: ClientAssertion.Checked, of client: ClientID, at now: Instant) -> Bool? {
      // The assertion was used before. The entry cannot be expired: an expired assertion is refused before this
      // function is called.
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
      entries.count < most && (entries.count < sharedFrom || counts[client, default: 0] < ofOne)
    }

    private mutating func forget(at now: Instant) {
      entries = entries.filter { now < $0.value.expires + ClientAssertion.tolerance }
      nextEnd = entries.values.map(\.expires).min().map { $0 + ClientAssertion.tolerance }
      outliving = entries.values.count { $0.outlives }
      counts = entries.values.reduce(into: [:]) { $0[$1.client, default: 0] += 1 }
    }
  }
}
