import PairingStore
import PostgreSQL
import RegentPairing
import RegentPlatform

/// The thread that tells other nodes what happens at this one.
///
/// It sends heartbeats, notifications of commits, used nonces and wrong guesses, many of them in one round trip.
// @unchecked Sendable, because:
// 1. `link` is made before the thread starts, which orders memory;
// 2. only that thread calls `serve`, and no other code accesses `link`.
final class NodeAnnouncer: @unchecked Sendable {
  private struct Orders {
    var notification: ChangeNotification.Meaning?
    var words: [PendingBroadcasts] = []
    /// Nonces that were used while no other node was present.
    ///
    /// They are sent with the next nonces or guesses.
    var kept: [UsedNonce] = []
    var isClosed = false
    /// Whether the thread is pausing between two batches.
    ///
    /// It then need not be woken.
    var isResting = false
    var isEmpty: Bool { notification == nil && words.isEmpty && (!isClosed || kept.isEmpty) }

    /// Removes and returns everything that this thread must send.
    mutating func take() -> Orders {
      defer { (notification, words, kept) = (nil, [], []) }
      return self
    }
  }

  private let link: DatabaseLink
  private let lane: Int64
  private let presence: Presence
  private let onDisplaced: @Sendable (PostgreSQLError) -> Void
  private let arrived = Clocks.monotonicNanoseconds()
  private var nextBeat: UInt64 = 0
  /// The time on the monotonic clock until which no other node listens.
  private let aloneUntil = Locked<UInt64>(0)
  /// The text in which this node reports its state, and the state of the cluster from the last heartbeat.
  private let talk = Locked((said: "", heard: ClusterStatus()))
  private let rings: Bool
  /// Whether the server's notification queue is full.
  let muteness: Condition
  /// The time until which this node sends no notifications, because the server's queue was full.
  private var muteUntil: UInt64 = 0
  private static let mutePause: UInt64 = 1_000_000_000
  /// Whether a COMMIT of any node waits for the standby.
  ///
  /// This connection's own COMMITs do not wait for the standby, so it can still report that.
  let awaitsStandby: Condition
  private let wallClock: @Sendable () -> Instant
  private let orders = Monitor(Orders())
  /// The time between two notifications in nanoseconds.
  ///
  /// They are limited because each briefly takes a lock of the whole server.
  private static let pause: UInt64 = 2_000_000
  /// The maximum number of batches that may wait to be sent.
  ///
  /// Above it, sharing nonces and guesses fails.
  private static let most = 1_000
  /// The maximum number of nonces that are kept in memory while no other node is present.
  ///
  /// Further nonces are sent to the database.
  private static let mostKept = 16_384
  /// The maximum number of attempts to reserve the node's name, one every quarter of a second.
  ///
  /// Together they take longer than the name of a crashed node stays reserved.
  private static let turns = 25

  init(_ options: PostgreSQLStoreOptions, _ health: Health, lane: Int64) {
    // The writes over this connection need not survive a crash of the server.
    link = DatabaseLink(options, health, session: ["synchronous_commit": "off"])
    self.lane = lane
    presence = Presence(name: options.node, lane: lane, version: options.version)
    onDisplaced = options.onDisplaced
    rings = options.wakeups == .bell
    awaitsStandby = Condition(options.onStandby)
    muteness = Condition(options.onMuteness)
    wallClock = options.wallClock
  }

  /// Queues a notification.
  ///
  /// A test notification that is still queued becomes one about a change.
  func ring(_ meaning: ChangeNotification.Meaning) {
    guard rings, meaning == .trial || !isAlone else { return }
    let isResting = orders.withLock { orders in
      orders.notification = orders.notification == .news ? .news : meaning
      return orders.isResting
    }
    if !isResting { orders.wakeOne() }
  }

  /// Records that no other node was heard, so that this node counts as alone until `moment`; zero records that another
  /// node was heard.
  func noteAlone(until moment: UInt64) {
    aloneUntil.withLock { $0 = moment }
    if moment == 0, orders.withLock({ !$0.kept.isEmpty }) { ring(.news) }
  }

  /// Whether no other node would receive a notification, because none has sent a notification or a heartbeat lately.
  private var isAlone: Bool {
    talk.withLock { $0.heard.serving == 1 } && Clocks.monotonicNanoseconds() < aloneUntil.withLock { $0 }
  }

  /// Shares nonces or guesses with other nodes, within two milliseconds.
  ///
  /// While no other node is present, nonces are kept until this node's next notification or for half a second. A node
  /// that starts sends a notification, which makes this node send the kept nonces.
  func share(_ words: PendingBroadcasts) {
    if words.guesses.isEmpty, isAlone, keep(words.nonces) {
      // Another node may have started just before these nonces were kept. Notify it now.
      if !isAlone { ring(.news) }
      return words.completion(.success(()))
    }
    let isResting = orders.withLock { orders -> Bool? in
      guard !orders.isClosed, orders.words.count < Self.most else { return nil }
      orders.words.append(words)
      return orders.isResting
    }
    guard let isResting else {
      return words.completion(.failure(StoreError.unavailable(reason: "too much waits for the database")))
    }
    if !isResting { orders.wakeOne() }
  }

  private func keep(_ nonces: [UsedNonce]) -> Bool {
    orders.withLock { orders in
      guard !orders.isClosed, orders.kept.count + nonces.count <= Self.mostKept else { return false }
      orders.kept += nonces
      return true
    }
  }

  func close() {
    orders.withLock { $0.isClosed = true }
    orders.wakeAll()
  }

  /// Runs the thread until the announcer is closed and everything is sent.
  func serve() {
    while let due = next() {
      let began = Clocks.monotonicNanoseconds()
      if !due.isEmpty || !due.kept.isEmpty {
        let outcome = Result { try tell(due) }
        if case .failure = outcome { _ = keep(due.kept) }
        for words in due.words { words.completion(outcome) }
      }
      if began >= nextBeat { beat() }
      _ = orders.wait(until: began + Self.pause) { orders in
        orders.isResting = true
        return orders.isClosed ? true : nil
      }
    }
    // Frees the node's name, so that a new process with the same name need not wait. If that fails, the name is free
    // after five seconds.
    _ = try? link.run([presence.leave])
    link.close()
  }

  /// Waits until there is something to send, and returns it.
  ///
  /// Returns an empty value when only a heartbeat is due, and nil when the announcer is closed.
  private func next() -> Orders? {
    let told = orders.wait(until: nextBeat) { orders -> Orders?? in
      orders.isResting = false
      guard orders.isEmpty else { return .some(orders.take()) }
      return orders.isClosed ? .some(nil) : nil
    }
    // This is a heartbeat. It also sends the kept nonces, because notifications may not work.
    return told ?? .some(orders.withLock { $0.take() })
  }

  /// Reserves the node's name, before any other use of the database.
  ///
  /// A process with this name that has just ended may hold the name until the server notices.
  func arrive() throws(PostgreSQLError) {
    for turn in 1...Self.turns {
      // The notification is sent even if this node does not listen itself: a node that was alone then sends the nonces
      // that it has kept.
      if try isTaken() {
        _ = try? link.run([Self.notify(ChangeNotification.payload(.news, from: lane))])
        return
      }
      if turn < Self.turns { link.pause() }
    }
    link.close()
    throw presence.refusal
  }

  /// Sends a heartbeat.
  ///
  /// Returns whether the node's name is reserved for this node.
  private func isTaken() throws(PostgreSQLError) -> Bool {
    let (said, wish) = talk.withLock { ($0.said, $0.heard.instruction?.rawValue ?? "") }
    let age = Int64((Clocks.monotonicNanoseconds() - arrived) / 1_000_000)
    let asked = wallClock()
    guard let row = try link.run([presence.beat(said, age: age, wish: wish)])[0].first else { return false }
    let answered = wallClock()
    let instruction = NodeInstruction(rawValue: try row.text(0))
    let others = Int(try row.integer(1))
    awaitsStandby.note(try row.integer(2) == 1)
    let ahead = clockAhead(of: Instant(milliseconds: try row.integer(3)), asked: asked, answered: answered)
    let silent = Set(try row.text(4).split(separator: " ").compactMap { NodeID(String($0)) })
    let words = try row.text(5).split(separator: "\n").map(String.init)
    talk.withLock {
      $0.heard = ClusterStatus(
        instruction: instruction, serving: others + 1, clockAhead: ahead, silent: silent, others: words)
    }
    return true
  }

  /// Sets the text in which the next heartbeat reports this node's state, and returns the cluster's state from the last
  /// heartbeat.
  func report(_ said: String) -> ClusterStatus {
    talk.withLock { talk in
      talk.said = said
      return talk.heard
    }
  }

  private func beat() {
    nextBeat = Clocks.monotonicNanoseconds() + Presence.pause
    do throws(PostgreSQLError) {
      if try !isTaken() { onDisplaced(presence.refusal) }
    } catch {
      // The error is ignored: the next heartbeat follows in a second, and operators learn of an outage from the
      // reader's and the writer's connections.
    }
  }

  private static func notify(_ payload: String) -> SQL {
    "SELECT pg_notify(\(ChangeNotification.channel.description), \(payload))"
  }

  private func tell(_ due: Orders) throws {
    var batch: [SQL] = []
    let (nonces, guesses) = (due.kept + due.words.flatMap(\.nonces), due.words.flatMap(\.guesses))
    let hasWords = !nonces.isEmpty || !guesses.isEmpty
    if hasWords {
      // The row of `nonce_count` is locked until the COMMIT, so numbers become visible in ascending order. A crash of
      // the server empties the table. Numbering then starts at the present time, which is higher than every earlier
      // number. It also starts there when the stored number is one that no node can have reached.
      batch.append(
        """
        WITH next AS (
          INSERT INTO nonce_count (id, n)
          VALUES (1, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT))
          ON CONFLICT (id) DO UPDATE SET n =
            CASE WHEN \(part: NonceNumbers.isCredible("nonce_count.n")) THEN nonce_count.n + 1 ELSE EXCLUDED.n END
          RETURNING n)
        INSERT INTO nonce (n, lane, used, guesses)
        SELECT n, CAST(\(lane) AS BIGINT), CAST(\(ChangeLog.text(of: nonces)) AS TEXT),
        CAST(\(ChangeLog.text(of: guesses)) AS TEXT) FROM next
        """)
    }
    let began = Clocks.monotonicNanoseconds()
    let hasNotification = rings && began >= muteUntil && (due.notification != nil || !isAlone)
    if hasNotification {
      let payload = ChangeNotification.payload(due.notification == .trial && !hasWords ? .trial : .news, from: lane)
      batch.append(Self.notify(payload))
    }
    guard !batch.isEmpty else { return }
    do throws(PostgreSQLError) {
      // `run` may send the batch twice, which does no harm.
      try link.run(batch)
      if hasNotification { muteness.note(false) }
    } catch {
      // The server's notification queue is full. The server reports that at the COMMIT, so the whole batch was rolled
      // back.
      guard hasNotification, error.state == .tooLarge else { throw error }
      muteUntil = began + Self.mutePause
      muteness.note(true)
      if hasWords { try link.run(batch.dropLast()) }
    }
  }
}

/// Nonces and wrong guesses to be sent to the other nodes.
struct PendingBroadcasts: Sendable {
  let nonces: [UsedNonce]
  let guesses: [WrongGuess]
  let completion: @Sendable (Result<Void, any Error>) -> Void
}
