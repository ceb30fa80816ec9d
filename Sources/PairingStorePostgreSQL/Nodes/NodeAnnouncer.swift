import PairingStore
import PostgreSQL
import RegentPairing
import RegentPlatform

/// The thread that tells the other nodes: that this one is there, that something was committed, which nonces were used
/// and what was guessed wrong, many at once.
// @unchecked Sendable, because:
// 1. `link` is made before the thread starts, which orders memory;
// 2. only that thread calls `serve`, and nothing else touches `link`.
final class NodeAnnouncer: @unchecked Sendable {
  private struct Orders {
    var bell: Bell.Meaning?
    var words: [PendingWords] = []
    /// What was used while nobody else was there: told with what comes next.
    var kept: [UsedNonce] = []
    var isClosed = false
    /// Whether the thread rests between two tellings: nobody need wake it.
    var isResting = false
    var isEmpty: Bool { bell == nil && words.isEmpty && (!isClosed || kept.isEmpty) }

    /// Takes everything that is to be told.
    mutating func take() -> Orders {
      defer { (bell, words, kept) = (nil, [], []) }
      return self
    }
  }

  private let link: DatabaseLink
  private let lane: Int64
  private let presence: Presence
  private let onDisplaced: @Sendable (PostgreSQLError) -> Void
  private let arrived = Clocks.monotonicNanoseconds()
  private var nextBeat: UInt64 = 0
  /// Until then nobody else listens, on the monotonic clock.
  private let aloneUntil = Locked<UInt64>(0)
  /// What this node says of itself, and what operators want of it.
  private let talk = Locked((said: "", heard: ClusterStatus()))
  private let rings: Bool
  /// Whether the server has no room for a bell.
  let muteness: Condition
  /// Until then none is rung, as there was no room.
  private var muteUntil: UInt64 = 0
  private static let mutePause: UInt64 = 1_000_000_000
  /// Whether a COMMIT of some node waits for the standby: this one waits for none, so it can tell.
  let awaitsStandby: Condition
  private let wallClock: @Sendable () -> Instant
  private let orders = Monitor(Orders())
  /// Between two bells: each costs a lock of the whole server for a moment.
  private static let pause: UInt64 = 2_000_000
  /// What waits at most, in batches; beyond it whoever shares something is refused.
  private static let most = 1_000
  /// What is kept at most while nobody else is there; what comes then is told with it.
  private static let mostKept = 16_384
  /// A quarter of a second each: longer than a name is kept for who has gone without a word.
  private static let turns = 25

  init(_ options: PostgreSQLStoreOptions, _ health: Health, lane: Int64) {
    // Nothing that it writes need survive the server.
    link = DatabaseLink(options, health, session: ["synchronous_commit": "off"])
    self.lane = lane
    presence = Presence(name: options.node, lane: lane, version: options.version)
    onDisplaced = options.onDisplaced
    rings = options.wakeups == .bell
    awaitsStandby = Condition(options.onStandby)
    muteness = Condition(options.onMuteness)
    wallClock = options.wallClock
  }

  /// Has the bell rung; a trial that is due already becomes news.
  func ring(_ meaning: Bell.Meaning) {
    guard rings, meaning == .trial || !isAlone else { return }
    let isResting = orders.withLock { orders in
      orders.bell = orders.bell == .news ? .news : meaning
      return orders.isResting
    }
    if !isResting { orders.wakeOne() }
  }

  /// Nobody else is heard, until then; with zero, somebody is.
  func noteAlone(until moment: UInt64) {
    aloneUntil.withLock { $0 = moment }
    if moment == 0, orders.withLock({ !$0.kept.isEmpty }) { ring(.news) }
  }

  /// Whether there is nobody for whom a bell would be: nobody else was heard of, neither by his bell nor by his beats.
  private var isAlone: Bool {
    talk.withLock { $0.heard.serving == 1 } && Clocks.monotonicNanoseconds() < aloneUntil.withLock { $0 }
  }

  /// Tells others, within two milliseconds.
  ///
  /// Nonces wait while there is nobody who could be told: until the next bell of our own, or half a second. Whoever
  /// comes then rings first.
  func share(_ words: PendingWords) {
    if words.guesses.isEmpty, isAlone, keep(words.nonces) {
      // Somebody may have come before it was kept.
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

  /// Goes on until it is closed and everything is told.
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
    // Whoever is started under this name need not wait; when it cannot be given back it is free in five seconds.
    _ = try? link.run([presence.leave])
    link.close()
  }

  /// What is to be told, or nothing when it is time for a beat; `nil` when it is closed.
  private func next() -> Orders? {
    let told = orders.wait(until: nextBeat) { orders -> Orders?? in
      orders.isResting = false
      guard orders.isEmpty else { return .some(orders.take()) }
      return orders.isClosed ? .some(nil) : nil
    }
    // The bell may not ring any more: then what is kept goes with a beat.
    return told ?? .some(orders.withLock { $0.take() })
  }

  /// Takes the name, before anything else is done.
  ///
  /// One that was ended a moment ago may have it until the server notices.
  func arrive() throws(PostgreSQLError) {
    for turn in 1...Self.turns {
      // Rung by who does not listen for bells, too: who was alone tells what he has kept.
      if try isTaken() {
        _ = try? link.run([Self.notify(Bell.payload(.news, from: lane))])
        return
      }
      if turn < Self.turns { link.pause() }
    }
    link.close()
    throw presence.refusal
  }

  /// Whether the name is ours.
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

  /// What is said with the next beat; gives back what the last one heard.
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
      // The next one comes in a second; who looks after it is told of a database that is away otherwise.
    }
  }

  private static func notify(_ payload: String) -> SQL {
    "SELECT pg_notify(\(Bell.channel.description), \(payload))"
  }

  private func tell(_ due: Orders) throws {
    var batch: [SQL] = []
    let (nonces, guesses) = (due.kept + due.words.flatMap(\.nonces), due.words.flatMap(\.guesses))
    let hasWords = !nonces.isEmpty || !guesses.isEmpty
    if hasWords {
      // Who writes nonces has its row until the COMMIT, so their numbers are seen in their order. After a crash of the
      // server it begins at the time, which is higher than any number before.
      batch.append(
        """
        WITH next AS (
          INSERT INTO nonce_count (id, n)
          VALUES (1, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT))
          ON CONFLICT (id) DO UPDATE SET n = nonce_count.n + 1 RETURNING n)
        INSERT INTO nonce (n, lane, used, guesses)
        SELECT n, CAST(\(lane) AS BIGINT), CAST(\(ChangeLog.text(of: nonces)) AS TEXT),
        CAST(\(ChangeLog.text(of: guesses)) AS TEXT) FROM next
        """)
    }
    let began = Clocks.monotonicNanoseconds()
    let hasBell = rings && began >= muteUntil && (due.bell != nil || !isAlone)
    if hasBell {
      let payload = Bell.payload(due.bell == .trial && !hasWords ? .trial : .news, from: lane)
      batch.append(Self.notify(payload))
    }
    guard !batch.isEmpty else { return }
    do throws(PostgreSQLError) {
      // Told twice is told.
      try link.run(batch)
      if hasBell { muteness.note(false) }
    } catch {
      // The server's queue for bells is full, which its COMMIT says, and all of the batch was undone.
      guard hasBell, error.state == .tooLarge else { throw error }
      muteUntil = began + Self.mutePause
      muteness.note(true)
      if hasWords { try link.run(batch.dropLast()) }
    }
  }
}

/// Nonces and wrong guesses on their way to the other nodes.
struct PendingWords: Sendable {
  let nonces: [UsedNonce]
  let guesses: [WrongGuess]
  let completion: @Sendable (Result<Void, any Error>) -> Void
}
