import PairingStore
import PostgreSQL
import RegentPlatform

/// The thread that learns of other nodes' changes.
///
/// It waits for notifications and reads the change log.
// @unchecked Sendable, because:
// 1. it is made before its thread starts, which orders memory;
// 2. only that thread calls `serve`, and no other code accesses its properties.
final class ChangeListener: @unchecked Sendable {
  private let link: DatabaseLink
  private let lane: Int64
  private let announcer: NodeAnnouncer
  private let told: ReportedChanges
  private let deafness: Condition
  private let flood: Condition
  private let usesBell: Bool
  /// The number of notifications since the last query of the change log, and how many of them had an invalid payload.
  private var rings = (all: 0, strange: 0)
  /// The time until which this node does not listen for notifications, because an attacker floods it with them.
  private var quietUntil: UInt64 = 0
  private let floodPause: UInt64
  /// The connection that executes LISTEN.
  private var listener: Connection?
  private var listensSince: UInt64 = 0
  /// The time at which this node last received its own test notification, and the time since which it has waited for
  /// one.
  private var heard: UInt64 = 0
  private var rung: UInt64?
  /// The time at which another node's notification was last received.
  ///
  /// At the start another node is assumed to exist.
  private var heardOther = Clocks.monotonicNanoseconds()
  /// The position in the change log up to which the last query read, and the connection of that query.
  ///
  /// Nil if the log has further entries after that position.
  private var looked: (upTo: ChangePosition, over: Connection)?
  /// The time at which the last query of the change log began.
  private var lookedAt: UInt64 = 0
  private var isEnding: () -> Bool = { false }

  /// The time between two queries of the change log while notifications arrive, and the shorter time while they do not.
  private let usualPause: UInt64
  private static let shortPause: UInt64 = 20_000_000
  /// How long the thread may take to notice that it must end, in nanoseconds.
  private static let slice: UInt64 = 250_000_000
  /// How often this node notifies itself as a test, in nanoseconds.
  ///
  /// A node that receives none of its own notifications for `deafAfter` counts as deaf.
  private static let trialPause: UInt64 = 500_000_000
  private static let deafAfter: UInt64 = 1_000_000_000
  /// The time after which a node without other nodes' notifications counts as the only node.
  ///
  /// Each listening node notifies itself at least twice in this time.
  private static let aloneAfter: UInt64 = 1_500_000_000
  private static let alone: UInt64 = 1_500_000_000
  /// The shortest time between two queries of the change log, however many nodes send notifications.
  ///
  /// Each node sends at most one notification in this time.
  private static let leastPause: UInt64 = 2_000_000
  /// The number of notifications between two queries that counts as a flood.
  ///
  /// A node sends at most 500 a second, and other clients have no reason to send any.
  private static let mostRings = 10_000
  private static let mostStrange = 100
  /// The maximum number of rows that one query of the change log reads.
  private static let page = 1_000

  init(
    _ options: PostgreSQLStoreOptions, _ health: Health, lane: Int64, announcer: NodeAnnouncer, told: ReportedChanges,
    deafness: Condition, flood: Condition
  ) {
    link = DatabaseLink(options, health)
    self.lane = lane
    self.announcer = announcer
    self.told = told
    self.deafness = deafness
    self.flood = flood
    floodPause = options.floodPause.wholeNanoseconds
    usesBell = options.wakeups == .bell
    usualPause = options.lookPause.wholeNanoseconds
  }

  func serve(_ queue: Monitor<Queue<PendingCatchUp>>) {
    isEnding = { queue.withLock { $0.isClosed } }
    while let request = queue.next(1).first {
      do {
        request.completion(.success(try answer(request, queue)))
        link.note(nil)
      } catch {
        link.note(error as? PostgreSQLError)
        request.completion(.failure(error))
      }
    }
    link.close()
  }

  private func answer(_ request: PendingCatchUp, _ queue: Monitor<Queue<PendingCatchUp>>) throws -> ChangePage {
    do {
      return try look(request, queue)
    } catch {
      // Any role that may connect can send notifications. Closing the connection discards those that are queued, and
      // the next connection does not listen.
      guard link.isFlooded || isFlood else { throw error }
      link.close()
      (listener, rings) = (nil, (0, 0))
      quietUntil = Clocks.monotonicNanoseconds() + floodPause
      flood.note(true)
      return try look(request, queue)
    }
  }

  private var isFlood: Bool { rings.all > Self.mostRings || rings.strange > Self.mostStrange }

  private func look(_ request: PendingCatchUp, _ queue: Monitor<Queue<PendingCatchUp>>) throws -> ChangePage {
    var position = request.position
    var mayWait = Clocks.monotonicNanoseconds() < request.ends
    while true {
      let connection = try listening()
      let hearsBell = listener === connection
      // If the change log has been read to its end, wait for a notification instead of querying again.
      if !(hearsBell && mayWait && looked?.upTo == position && looked?.over === connection) {
        rest(until: lookedAt + Self.leastPause, queue)
        let page = try read(connection, after: position)
        rings = (0, 0)
        guard page.isNothing, !page.hasMore, Clocks.monotonicNanoseconds() < request.ends, !isEnding() else {
          return page
        }
        position = page.position
      }
      mayWait = false
      if hearsBell {
        try wait(connection, until: request.ends)
      } else {
        rest(until: min(request.ends, Clocks.monotonicNanoseconds() + Self.shortPause), queue)
      }
    }
  }

  private func rest(until moment: UInt64, _ queue: Monitor<Queue<PendingCatchUp>>) {
    guard Clocks.monotonicNanoseconds() < moment else { return }
    _ = queue.wait(until: moment) { $0.isClosed ? true : nil }
  }

  /// Returns a connection that listens for notifications, if this store uses them.
  private func listening() throws(PostgreSQLError) -> Connection {
    // A connection that is half open, or goes through a pooler, may receive nothing.
    if deafness.isSo, listener != nil, age(of: listensSince) > Self.deafAfter {
      link.close()
      listener = nil
    }
    let connection = try link.opened()
    guard usesBell, connection !== listener, quietUntil <= Clocks.monotonicNanoseconds() else { return connection }
    try connection.listen(to: ChangeNotification.channel, by: link.deadline)
    let now = Clocks.monotonicNanoseconds()
    (listener, listensSince, heard, rung) = (connection, now, now, now)
    // Nodes that took themselves for the only one learn from this notification that another node listens.
    announcer.ring(.trial)
    return connection
  }

  /// Waits until another node announces a change or the next query is due.
  private func wait(_ connection: Connection, until end: UInt64) throws(PostgreSQLError) {
    let began = Clocks.monotonicNanoseconds()
    // Reads, without waiting, the notifications that arrived since the last query began. A change that one of them
    // announces may be missing in the query's result, so the next query must follow at once.
    if try hear(connection, until: began) { return }
    if let rung, age(of: rung) > Self.deafAfter {
      deafness.note(true)
    } else if rung == nil, age(of: heard) > Self.trialPause {
      rung = began
      announcer.ring(.trial)
    }
    let pause = deafness.isSo ? Self.shortPause : usualPause
    let next = min(end, began + pause)
    while Clocks.monotonicNanoseconds() < next, !isEnding() {
      if try hear(connection, until: min(next, Clocks.monotonicNanoseconds() + Self.slice)) { return }
    }
  }

  private func age(of moment: UInt64) -> UInt64 {
    let now = Clocks.monotonicNanoseconds()
    return now > moment ? now - moment : 0
  }

  /// Receives notifications until `end` or until another node announces a change.
  ///
  /// - Returns: whether another node announced a change.
  private func hear(_ connection: Connection, until end: UInt64) throws(PostgreSQLError) -> Bool {
    let now = Clocks.monotonicNanoseconds()
    let left = Duration.nanoseconds(Int64(end > now ? end - now : 0))
    var hasNews = false
    for notification in try connection.notifications(by: .after(left)) {
      rings.all += 1
      guard let (from, meaning) = ChangeNotification.read(notification.payload) else {
        rings.strange += 1
        continue
      }
      if from == lane {
        (heard, rung) = (Clocks.monotonicNanoseconds(), nil)
        deafness.note(false)
        flood.note(false)
        if age(of: heardOther) > Self.aloneAfter { announcer.noteAlone(until: heard + Self.alone) }
      } else {
        heardOther = Clocks.monotonicNanoseconds()
        announcer.noteAlone(until: 0)
        if meaning == .news { hasNews = true }
      }
    }
    if isFlood { throw PostgreSQLError(.lost, "more notifications arrived than nodes send") }
    return hasNews
  }

  private func read(_ connection: Connection, after position: ChangePosition) throws -> ChangePage {
    let batch: [SQL] = [
      """
      SELECT c.changes, k.n, k.lane, k.what, c.state, c.schema FROM cluster c LEFT JOIN LATERAL (
        SELECT n, lane, what FROM change WHERE n > \(position.change) ORDER BY n LIMIT \(Self.page)
      ) k ON true WHERE c.id = 1 ORDER BY k.n
      """,
      """
      SELECT c.n, k.n, k.used, k.guesses,
      CASE WHEN isfinite(k.at) THEN CAST(extract(epoch FROM now() - k.at) * 1000 AS BIGINT)
        WHEN k.n IS NOT NULL THEN CAST(\(Presence.memory) AS BIGINT) END
      FROM nonce_count c LEFT JOIN LATERAL (
        SELECT n, used, guesses, at FROM nonce WHERE n > \(position.nonce) AND n <= c.n AND lane <> \(lane)
        ORDER BY n LIMIT \(Self.page)
      ) k ON true WHERE c.id = 1 ORDER BY k.n
      """,
    ]
    (looked, lookedAt) = (nil, Clocks.monotonicNanoseconds())
    let results = try connection.run(batch, by: link.deadline)
    var next = position
    let (changes, isWhole) = try readChanges(results[0], &next)
    let (nonces, guesses) = try readWords(results[1], &next)
    // After a fail-over the new primary may lack changes that were read from the earlier one.
    let isSame = position.timeline == nil || position.timeline == link.timeline
    next.timeline = link.timeline
    // A number that went back makes the nonces be read from the beginning, with the next query.
    let hasMore = results.contains { $0.count == Self.page } || next.nonce < position.nonce
    if !hasMore { looked = (next, connection) }
    return ChangePage(changes, nonces, guesses, upTo: next, isWhole: isWhole && isSame, hasMore: hasMore)
  }

  private func readChanges(_ rows: Rows, _ position: inout ChangePosition) throws -> (Set<StoreChange>, isWhole: Bool) {
    guard let cluster = rows.first else {
      throw SchemaFailure.damaged("the row of the table “cluster” is missing")
    }
    // A database whose rows were moved must not be read any further: it would still report sign-ins as valid that have
    // ended elsewhere.
    try Schema.check(state: cluster.text(4), version: cluster.integer(5))
    let newest = try cluster.integer(0)
    let before = position.change
    position.change = newest
    // The log ends before this node's position: acknowledged changes were lost, or it is another database.
    guard newest >= before else { return ([], false) }
    let some = try rows.filter { try !$0.isNull(1) }
    // Numbers have no gaps, so a missing entry was deleted before this node read it.
    guard newest == before || some.first != nil, try some.first.map({ try $0.integer(1) == before + 1 }) ?? true else {
      return ([], false)
    }
    if some.count == Self.page, let last = some.last { position.change = try last.integer(1) }
    let own = told.take(upTo: position.change)
    var changes: Set<StoreChange> = []
    for row in some {
      if try row.integer(2) == lane, try own.contains(row.integer(1)) { continue }
      guard let found = ChangeLog.changes(in: try row.text(3)) else { return ([], false) }
      changes.formUnion(found)
    }
    return (changes, true)
  }

  private func readWords(_ rows: Rows, _ position: inout ChangePosition) throws -> ([UsedNonce], [WrongGuess]) {
    // The table has no row when no node has shared anything since the tables were made or the server crashed.
    guard let newest = try rows.first?.integer(0) else { return ([], []) }
    guard newest >= position.nonce else {
      position.nonce = 0
      return ([], [])
    }
    let some = try rows.filter { try !$0.isNull(1) }
    position.nonce = some.count == Self.page ? try some[Self.page - 1].integer(1) : newest
    let nonces = try some.flatMap { ChangeLog.nonces(in: try $0.text(2)) }
    let guesses = try some.flatMap { row in
      ChangeLog.guesses(in: try row.text(3), age: .milliseconds(max(try row.integer(4), 0)))
    }
    return (nonces, guesses)
  }
}

/// A caller that waits for other nodes' changes.
struct PendingCatchUp: Sendable {
  let position: ChangePosition
  /// The caller's deadline, on the monotonic clock.
  let ends: UInt64
  let completion: @Sendable (Result<ChangePage, any Error>) -> Void
}

/// The numbers of this store's changes whose callers have all been told the outcome.
///
/// This node need not read these changes from the change log.
final class ReportedChanges: Sendable {
  private let numbers = Locked(Set<Int64>())
  /// The maximum number of changes that are remembered, in case they are never read.
  ///
  /// Above it all are forgotten. Then this node reads its own changes once more, which does no harm.
  private static let most = 10_000

  func note(_ number: Int64) {
    numbers.withLock { numbers in
      if numbers.count >= Self.most { numbers.removeAll() }
      numbers.insert(number)
    }
  }

  /// Removes and returns the numbers of the changes up to `last`.
  func take(upTo last: Int64) -> Set<Int64> {
    numbers.withLock { numbers in
      let taken = numbers.filter { $0 <= last }
      numbers.subtract(taken)
      return taken
    }
  }
}

extension ChangePage {
  fileprivate var isNothing: Bool { changes.isEmpty && nonces.isEmpty && guesses.isEmpty && isWhole }
}

/// On PostgreSQL a position holds three numbers: the position in the change log, the position in the shared nonces, and
/// the timeline of the database (see ``Timelines``).
extension ChangePosition {
  var change: Int64 {
    get { numbers[0] ?? 0 }
    set { numbers[0] = newValue }
  }
  var timeline: Int64? {
    get { numbers[2] }
    set { numbers[2] = newValue }
  }
  var nonce: Int64 {
    get { numbers[1] ?? 0 }
    set { numbers[1] = newValue }
  }
}
