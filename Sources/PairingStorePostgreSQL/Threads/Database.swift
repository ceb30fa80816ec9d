import PairingStore
import PostgreSQL
import RegentPlatform

/// The database as verbs use it: one thread that writes, some that read, each with a connection of its own, and one
/// that looks to it that nobody waits for ever.
final class Database: Sendable {
  let health: Health
  private let writes = Monitor(Queue<Request>())
  private let reads = Monitor(Queue<PendingRead>())
  private let news = Monitor(Queue<PendingNews>())
  let announcer: NodeAnnouncer
  let deafness: Condition
  let flood: Condition
  private let patience: Patience
  private let readers: [Reader]
  private let isEnding = Monitor(false)
  private let threads: [DedicatedThread]

  /// What is waiting for a thread at most; beyond it whoever asks is refused at once.
  private static let most = 20_000
  /// Between two looks at all servers: for so long a new primary may be unseen.
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
    let (news, announcer, told) = (news, announcer, ToldChanges())
    do {
      let lane = Lane(options, health, lane: number, announcer: announcer, told: told)
      try lane.open()
      threads.append(
        try DedicatedThread.start(named: "pg lane", turns: .short) { lane.serve(writes) })
      for (number, reader) in readers.enumerated() {
        threads.append(
          try DedicatedThread.start(named: "pg reader \(number + 1)", turns: .short) { reader.serve(reads) })
      }
      let listener = News(
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

  /// Finishes what waits and ends the threads.
  ///
  /// Blocks the caller; called on one of its own threads it does not wait.
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

  /// Tells whoever waits now that there is no answer; what comes later waits as ever.
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

  /// Writes and returns when the COMMIT is certain: `body` runs on the lane's thread, in a transaction that may be
  /// shared, and again when that fails.
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
      // First where it can be given up, so that nothing is forgotten.
      guard patience.add(request), writes.add(request, most: Self.most) else {
        return request.fail(Self.refusal)
      }
    }
  }

  var waitingWrites: Int { writes.withLock { $0.count } }

  /// Reads on a reader's thread: everything that `body` asks sees the same moment, and it runs again when the
  /// connection broke.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let read = PendingRead(ends: patience.end, body) { continuation.resume(with: $0) }
      if !reads.add(read, most: Self.most) { read.refuse(Self.refusal) }
    }
  }

  /// What others wrote behind a position, when there is something or the time is over.
  func changes(after position: ChangePosition, waiting span: Duration) async throws -> ChangePage {
    try await withCheckedThrowingContinuation { continuation in
      let request = PendingNews(
        position: position, ends: Clocks.monotonicNanoseconds() + span.wholeNanoseconds
      ) { continuation.resume(with: $0) }
      if !news.add(request, most: Self.most) { request.completion(.failure(Self.refusal)) }
    }
  }

  private static let refusal = StoreError.unavailable(reason: "the database is being closed, or too much waits for it")
}

/// What waits for a thread, first come, first served.
struct Queue<Item> {
  private var items: [Item] = []
  /// Those before it have been taken.
  private var first = 0
  var isClosed = false

  var count: Int { items.count - first }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ item: Item) { items.append(item) }

  /// Takes the next, at most so many.
  mutating func take(_ most: Int) -> [Item] {
    let end = first + min(count, most)
    defer {
      first = end
      // Also when it never runs empty: each is moved once at most on average.
      if first * 2 >= items.count {
        items.removeFirst(first)
        first = 0
      }
    }
    return Array(items[first..<end])
  }
}

extension Monitor {
  /// Takes an item, unless the queue is closed or full.
  func add<Item>(_ item: Item, most: Int) -> Bool where State == Queue<Item> {
    let isTaken = withLock { queue in
      guard !queue.isClosed, queue.count < most else { return false }
      queue.append(item)
      return true
    }
    if isTaken { wakeOne() }
    return isTaken
  }

  /// Nothing more is taken; what waits is still served.
  func close<Item>() where State == Queue<Item> {
    withLock { $0.isClosed = true }
    wakeAll()
  }

  /// The next items, at most so many; empty when nothing more comes.
  func next<Item>(_ most: Int) -> [Item] where State == Queue<Item> {
    let items = wait { queue -> [Item]? in
      guard queue.isEmpty else { return queue.take(most) }
      return queue.isClosed ? [] : nil
    }
    return items ?? []
  }
}

/// Whether the database answers.
final class Health: Sendable {
  let timelines: Timelines
  /// Since when the last try of a connection has been one that failed; on the monotonic clock.
  private let awaySince = Locked<UInt64?>(nil)
  /// Whether the disk was full when somebody needed room there last.
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
