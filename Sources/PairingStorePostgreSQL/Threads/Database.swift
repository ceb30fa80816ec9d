import PairingStore
import PostgreSQL
import RegentPlatform

/// The threads of the PostgreSQL store.
///
/// One writes, several read, and two exchange messages with other nodes, each with a connection of its own. A further
/// thread looks for a new primary server, and another enforces time limits.
final class Database: Sendable {
  let health: Health
  private let writes = Monitor(Queue<Request>())
  private let reads = Monitor(Queue<PendingRead>())
  private let news = Monitor(Queue<PendingCatchUp>())
  let announcer: NodeAnnouncer
  let deafness: Condition
  let flood: Condition
  private let patience: Patience
  private let readers: [Reader]
  private let isEnding = Monitor(false)
  private let threads: [DedicatedThread]

  /// The maximum number of requests that wait for the writer, and for the readers.
  ///
  /// Above it, requests fail at once.
  private static let most = 20_000
  /// The time between two checks of all servers, in nanoseconds.
  ///
  /// A new primary may stay undetected for this long.
  private static let scoutPause: UInt64 = 2_000_000_000

  init(_ options: PostgreSQLStoreOptions, _ timelines: Timelines) throws {
    health = Health(timelines)
    var threads: [DedicatedThread] = []
    let number = Int64.random(in: 1 ... .max)
    announcer = NodeAnnouncer(options, health, lane: number)
    try announcer.arrive()
    patience = Patience(options.patience, most: Self.most, standby: announcer.awaitsStandby)
    readers = (1...max(1, options.readers)).map { [health] _ in Reader(options, health) }
    deafness = Condition(options.onHearing)
    flood = Condition(options.onFlood)
    let (writes, reads, patience, health) = (writes, reads, patience, health)
    let (news, announcer, told) = (news, announcer, ReportedChanges())
    do {
      let lane = WriterThread(options, health, lane: number, announcer: announcer, told: told)
      try lane.open()
      threads.append(
        try DedicatedThread.start(named: "pg lane", turns: .short) { lane.serve(writes) })
      for (number, reader) in readers.enumerated() {
        threads.append(
          try DedicatedThread.start(named: "pg reader \(number + 1)", turns: .short) { reader.serve(reads) })
      }
      let listener = ChangeListener(
        options, health, lane: number, announcer: announcer, told: told, deafness: deafness, flood: flood)
      threads.append(try DedicatedThread.start(named: "pg news", turns: .short) { listener.serve(news) })
      threads.append(try DedicatedThread.start(named: "pg announcer", turns: .short) { announcer.serve() })
      if options.connection.hosts.count > 1 {
        let isEnding = isEnding
        threads.append(
          try DedicatedThread.start(named: "pg scout") {
            while !isEnding.rest(until: Clocks.monotonicNanoseconds() + Self.scoutPause) {
              timelines.look(at: options.connection)
            }
          })
      }
      threads.append(try DedicatedThread.start(named: "pg patience") { patience.serve() })
    } catch {
      writes.close()
      patience.close()
      reads.close()
      news.close()
      announcer.close()
      isEnding.end()
      for thread in threads { thread.join() }
      throw error
    }
    self.threads = threads
  }

  /// Completes the waiting requests and ends the store's threads.
  ///
  /// Blocks the caller, except on one of these threads.
  func close() {
    shut()
    if !threads.contains(where: \.isCurrent) {
      for thread in threads.dropLast() { thread.join() }
    }
    patience.close()
    if let last = threads.last, !last.isCurrent { last.join() }
  }

  deinit {
    shut()
    patience.close()
  }

  /// Fails all requests that wait for the database now.
  ///
  /// Later requests wait as usual.
  func giveUp() {
    patience.giveUp()
    for read in reads.withLock({ $0.take(.max) }) { read.refuse(Reader.late) }
    for reader in readers { reader.giveUp() }
  }

  private func shut() {
    writes.close()
    reads.close()
    news.close()
    announcer.close()
    isEnding.end()
  }

  /// Writes, and returns when the COMMIT is confirmed.
  ///
  /// `body` runs on the writer thread in a transaction that other requests may share. If the shared transaction fails,
  /// `body` runs again in a transaction of its own.
  @discardableResult
  func write<Value: Sendable>(
    asking questions: [Question] = [],
    thenAsking more: (@Sendable (borrowing ReadContext) throws -> [Question])? = nil,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let request = Request(ends: patience.end, asking: questions, thenAsking: more, body) {
        continuation.resume(with: $0)
      }
      // The request gets its time limit before it is queued, so that it never waits without one.
      guard patience.add(request), writes.add(request, most: Self.most) else {
        return request.fail(Self.refusal)
      }
    }
  }

  var waitingWrites: Int { writes.withLock { $0.count } }

  /// Reads on a reader's thread.
  ///
  /// All queries of `body` see the database as of one moment. `body` may run again if the connection breaks.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let read = PendingRead(ends: patience.end, body) { continuation.resume(with: $0) }
      if !reads.add(read, most: Self.most) { read.refuse(Self.refusal) }
    }
  }

  /// Reads other nodes' changes after a position in the change log.
  ///
  /// When there are none, it waits for some until `span` is over.
  func changes(after position: ChangePosition, waiting span: Duration) async throws -> ChangePage {
    try await withCheckedThrowingContinuation { continuation in
      let request = PendingCatchUp(
        position: position, ends: Clocks.monotonicNanoseconds() + span.wholeNanoseconds
      ) { continuation.resume(with: $0) }
      if !news.add(request, most: Self.most) { request.completion(.failure(Self.refusal)) }
    }
  }

  private static let refusal = StoreError.unavailable(reason: "the database is being closed, or too much waits for it")
}

/// A first-in, first-out queue of requests for a thread.
struct Queue<Item> {
  private var items: [Item] = []
  /// The index in the array of the first item that has not been taken from the queue.
  private var first = 0
  var isClosed = false

  var count: Int { items.count - first }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ item: Item) { items.append(item) }

  mutating func take(_ most: Int) -> [Item] {
    let end = first + min(count, most)
    defer {
      first = end
      // Removes taken items from the array even if the queue never becomes empty. On average each item is moved at most
      // once.
      if first * 2 >= items.count {
        items.removeFirst(first)
        first = 0
      }
    }
    return Array(items[first..<end])
  }
}

extension Monitor {
  /// Adds an item, unless the queue is closed or full.
  func add<Item>(_ item: Item, most: Int) -> Bool where State == Queue<Item> {
    let isTaken = withLock { queue in
      guard !queue.isClosed, queue.count < most else { return false }
      queue.append(item)
      return true
    }
    if isTaken { wakeOne() }
    return isTaken
  }

  /// Makes the queue refuse new items.
  ///
  /// Waiting ones are still served.
  func close<Item>() where State == Queue<Item> {
    withLock { $0.isClosed = true }
    wakeAll()
  }

  /// Waits for the next items in the queue and returns up to `most`; returns none when the queue is closed and empty.
  func next<Item>(_ most: Int) -> [Item] where State == Queue<Item> {
    let items = wait { queue -> [Item]? in
      guard queue.isEmpty else { return queue.take(most) }
      return queue.isClosed ? [] : nil
    }
    return items ?? []
  }
}

/// The state of the connection to the database, and counters.
final class Health: Sendable {
  let timelines: Timelines
  /// Since when the database has not answered, on the monotonic clock; nil while it answers.
  private let awaySince = Locked<UInt64?>(nil)
  /// Whether the last write that needed disk space found the disk full.
  let isFull = Condition { _ in }
  private let counted = Locked(WriteNumbers())

  init(_ timelines: Timelines) { self.timelines = timelines }

  var awayFor: Duration? {
    awaySince.withLock { $0 }.map { since in
      let now = Clocks.monotonicNanoseconds()
      return .nanoseconds(Int64(now > since ? now - since : 0))
    }
  }

  func noteAnswer() { awaySince.withLock { $0 = nil } }

  func noteSilence() { awaySince.withLock { $0 = $0 ?? Clocks.monotonicNanoseconds() } }

  var numbers: WriteNumbers { counted.withLock { $0 } }

  func noteFull() {
    isFull.note(true)
    counted.withLock { $0.diskFull += 1 }
  }

  func noteCommit(requests: Int, nanoseconds: UInt64) {
    counted.withLock { numbers in
      numbers.batchSizes.record(requests)
      numbers.commitMicroseconds.record(Int(nanoseconds / 1_000))
    }
  }

  func noteRollback(_ error: PostgreSQLError) {
    if error.isTrouble { counted.withLock { $0.rollbacks += 1 } }
  }
}
