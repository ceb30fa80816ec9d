import PairingStore
import PostgreSQL
import RegentPlatform

/// The thread that hears what other nodes write: it waits for the bell and reads the log of changes.
// @unchecked Sendable, because:
// 1. it is made before its thread starts, which orders memory;
// 2. only that thread calls `serve`, and nothing else touches what is kept here.
final class News: @unchecked Sendable {
  private let link: DatabaseLink
  private let lane: Int64
  private let announcer: NodeAnnouncer
  private let told: ToldChanges
  private let deafness: Condition
  private let flood: Condition
  private let usesBell: Bool
  /// Bells since the last look, and those of them that are no node's.
  private var rings = (all: 0, strange: 0)
  /// Until then the bell is not listened to, because of a flood.
  private var quietUntil: UInt64 = 0
  private let floodPause: UInt64
  /// The connection that listens.
  private var listener: Connection?
  private var listensSince: UInt64 = 0
  /// When our own bell was heard last, and since when we wait to hear it.
  private var heard: UInt64 = 0
  private var rung: UInt64?
  /// When somebody else's bell was heard last; at the beginning somebody may be there.
  private var heardOther = Clocks.monotonicNanoseconds()
  /// How far a look came that left nothing, over which connection, and when it began.
  private var looked: (upTo: ChangePosition, over: Connection)?
  private var lookedAt: UInt64 = 0
  private var isEnding: () -> Bool = { false }

  /// Between two looks when the bell is heard, and when it is not.
  private let usualPause: UInt64
  private static let shortPause: UInt64 = 20_000_000
  /// So long the thread does not hear that it is to end.
  private static let slice: UInt64 = 250_000_000
  /// So often our own bell is rung, to hear whether it is heard; after so long without it nobody is heard.
  private static let trialPause: UInt64 = 500_000_000
  private static let deafAfter: UInt64 = 1_000_000_000
  /// Who listens rings twice in this time, to hear himself: whoever hears nobody else for so long is alone.
  private static let aloneAfter: UInt64 = 1_500_000_000
  private static let alone: UInt64 = 1_500_000_000
  /// Between two looks, however many nodes ring: each rings at most so often.
  private static let leastPause: UInt64 = 2_000_000
  /// Between two looks so many bells may come: a node rings 500 times a second at most, and nobody else has to ring.
  private static let mostRings = 10_000
  private static let mostStrange = 100
  /// Rows of one look.
  private static let page = 1_000

  init(
    _ options: PostgreSQLStoreOptions, _ health: Health, lane: Int64, announcer: NodeAnnouncer, told: ToldChanges,
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

  func serve(_ queue: Monitor<Queue<PendingNews>>) {
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

  private func answer(_ request: PendingNews, _ queue: Monitor<Queue<PendingNews>>) throws -> ChangePage {
    do {
      return try look(request, queue)
    } catch {
      // Whoever may connect can ring. What is queued goes with the connection, and another one does not listen.
      guard link.isFlooded || isFlood else { throw error }
      link.close()
      (listener, rings) = (nil, (0, 0))
      quietUntil = Clocks.monotonicNanoseconds() + floodPause
      flood.note(true)
      return try look(request, queue)
    }
  }

  private var isFlood: Bool { rings.all > Self.mostRings || rings.strange > Self.mostStrange }

  private func look(_ request: PendingNews, _ queue: Monitor<Queue<PendingNews>>) throws -> ChangePage {
    var position = request.position
    var mayWait = Clocks.monotonicNanoseconds() < request.ends
    while true {
      let connection = try listening()
      let hearsBell = listener === connection
      // Whoever has read everything and comes back is told by the bell that there is more.
      if !(hearsBell && mayWait && looked?.upTo == position && looked?.over === connection) {
        rest(until: lookedAt + Self.leastPause, queue)
        let page = try read(connection, after: position)
        rings = (0, 0)
        guard page.isNothing, Clocks.monotonicNanoseconds() < request.ends, !isEnding() else { return page }
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

  private func rest(until moment: UInt64, _ queue: Monitor<Queue<PendingNews>>) {
    guard Clocks.monotonicNanoseconds() < moment else { return }
    _ = queue.wait(until: moment) { $0.isClosed ? true : nil }
  }

  /// A connection that hears the bell, if there is one to hear.
  private func listening() throws(PostgreSQLError) -> Connection {
    // A connection may be there that hears nothing: half open, or a pooler's.
    if deafness.isSo, listener != nil, age(of: listensSince) > Self.deafAfter {
      link.close()
      listener = nil
    }
    let connection = try link.opened()
    guard usesBell, connection !== listener, quietUntil <= Clocks.monotonicNanoseconds() else { return connection }
    try connection.listen(to: Bell.channel, by: link.deadline)
    let now = Clocks.monotonicNanoseconds()
    (listener, listensSince, heard, rung) = (connection, now, now, now)
    // Who was alone hears that somebody listens now.
    announcer.ring(.trial)
    return connection
  }

  /// Waits until somebody else has rung, or it is time to look without that.
  private func wait(_ connection: Connection, until end: UInt64) throws(PostgreSQLError) {
    let began = Clocks.monotonicNanoseconds()
    // Perhaps rung after the last look had begun.
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

  /// Hears the bells that were rung.
  ///
  /// - Returns: whether one of them was somebody else's who wrote something.
  private func hear(_ connection: Connection, until end: UInt64) throws(PostgreSQLError) -> Bool {
    let now = Clocks.monotonicNanoseconds()
    let left = Duration.nanoseconds(Int64(end > now ? end - now : 0))
    var hasNews = false
    for bell in try connection.notifications(by: .after(left)) {
      rings.all += 1
      guard let (from, meaning) = Bell.read(bell.payload) else {
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
    if isFlood { throw PostgreSQLError(.lost, "more bells were rung than nodes ring") }
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
        SELECT n, used, guesses, at FROM nonce WHERE n > \(position.nonce) AND lane <> \(lane) ORDER BY n LIMIT \(Self.page)
      ) k ON true WHERE c.id = 1 ORDER BY k.n
      """,
    ]
    (looked, lookedAt) = (nil, Clocks.monotonicNanoseconds())
    let results = try connection.run(batch, by: link.deadline)
    var next = position
    let (changes, isWhole) = try readChanges(results[0], &next)
    let (nonces, guesses) = try readWords(results[1], &next)
    // Another history: what was read of the one before may not be in it.
    let isSame = position.timeline == nil || position.timeline == link.timeline
    next.timeline = link.timeline
    let hasMore = results.contains { $0.count == Self.page }
    if !hasMore { looked = (next, connection) }
    return ChangePage(changes, nonces, guesses, upTo: next, isWhole: isWhole && isSame, hasMore: hasMore)
  }

  private func readChanges(_ rows: Rows, _ position: inout ChangePosition) throws -> (Set<StoreChange>, isWhole: Bool) {
    guard let cluster = rows.first else {
      throw SchemaFailure.damaged("the row of the table “cluster” is missing")
    }
    // Whoever reads on from a database that was moved away would say yes to what was ended elsewhere.
    try Schema.check(state: cluster.text(4), version: cluster.integer(5))
    let newest = try cluster.integer(0)
    let before = position.change
    position.change = newest
    // Behind where we were: what was acknowledged is gone, or it is another database.
    guard newest >= before else { return ([], false) }
    let some = try rows.filter { try !$0.isNull(1) }
    // Numbers have no gaps: one that is missing was forgotten before it was read.
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
    // No row: nobody has shared any since the tables were made, or the server crashed.
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

/// A question for news.
struct PendingNews: Sendable {
  let position: ChangePosition
  /// On the monotonic clock.
  let ends: UInt64
  let completion: @Sendable (Result<ChangePage, any Error>) -> Void
}

/// The changes of this store whose outcome everybody who asked for them was told: nobody here need read them.
final class ToldChanges: Sendable {
  private let numbers = Locked(Set<Int64>())
  /// Beyond so many, because nobody reads, they are forgotten: reading one's own costs a look, no more.
  private static let most = 10_000

  func note(_ number: Int64) {
    numbers.withLock { numbers in
      if numbers.count >= Self.most { numbers.removeAll() }
      numbers.insert(number)
    }
  }

  /// Those up to a number, which are asked for no more.
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

/// In a position: the log has one row of numbers, the nonces another, and both are of one history.
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
