import RegentPlatform

/// A fixed number of reader threads, each with one read-only connection.
final class ReaderPool: Sendable {
  /// How many reads share one transaction.
  ///
  /// With few, no read waits long for the others.
  private static let mostTogether = 16

  private struct ReaderPoolState {
    var jobs: ArraySlice<PendingRead> = []
    var closing = false
    var running = 0

    /// Takes one reader thread's share of the waiting reads.
    ///
    /// A transaction that begins now sees everything that was committed when these reads were requested.
    mutating func take(oneOf readers: Int) -> ArraySlice<PendingRead> {
      let count = min((jobs.count + readers - 1) / readers, ReaderPool.mostTogether)
      defer { jobs.removeFirst(count) }
      return jobs.prefix(count)
    }
  }

  private let monitor = Monitor(ReaderPoolState())
  private let interrupters: [Interrupter]
  private let threads: [DedicatedThread]
  private let capacity: Int
  private let writer: WriteQueue

  init(
    path: String, count: Int, capacity: Int, fileLayer: String?, counters: Counters, writer: WriteQueue
  ) throws {
    self.capacity = capacity
    self.writer = writer
    var interrupters: [Interrupter] = []
    var threads: [DedicatedThread] = []
    do {
      for number in 1...max(1, count) {
        let connection = try Connection.open(path, role: .reader, fileLayer: fileLayer)
        interrupters.append(connection.interrupter)
        let handover = Handover(ReadContext(connection: connection))
        let monitor = monitor
        threads.append(
          try DedicatedThread.start(named: "sqlite reader \(number)", turns: .short) {
            guard let context = handover.take() else { return }
            ReaderPool.serve(monitor, context, counters, writer, oneOf: count)
          })
      }
    } catch {
      // Not all readers could be started. Those that run would otherwise wait for ever and keep the file open.
      monitor.withLock { $0.closing = true }
      monitor.wakeAll()
      for thread in threads { thread.join() }
      throw error
    }
    self.interrupters = interrupters
    self.threads = threads
  }

  func add(_ job: PendingRead) {
    let refusal: DatabaseFailure? = monitor.withLock { state in
      if state.closing { return .closed }
      guard state.jobs.count < capacity else { return .overloaded(waiting: capacity) }
      state.jobs.append(job)
      return nil
    }
    if let refusal { job.refuse(refusal) } else { monitor.wakeOne() }
  }

  /// Whether the caller runs on a reader thread.
  var isCurrent: Bool { threads.contains { $0.isCurrent } }

  /// Refuses waiting reads and interrupts running reads.
  ///
  /// Does not wait for the threads.
  func startClosing() {
    let jobs = monitor.withLock { state in
      state.closing = true
      defer { state.jobs = [] }
      return state.jobs
    }
    monitor.wakeAll()
    for job in jobs { job.refuse(DatabaseFailure.closed) }
    for interrupter in interrupters { interrupter.cancel() }
  }

  /// Does what `startClosing` does, and waits until every connection is closed.
  func close() {
    startClosing()
    // A statement that started at the moment of the interrupt may have escaped it, so repeat until no read runs.
    while monitor.wait(
      until: Clocks.monotonicNanoseconds() + 10_000_000, for: { state -> Bool? in state.running == 0 ? true : nil }
    ) == nil {
      for interrupter in interrupters { interrupter.cancel() }
    }
    for thread in threads { thread.join() }
  }

  private static func serve(
    _ monitor: Monitor<ReaderPoolState>, _ context: borrowing ReadContext, _ counters: Counters, _ writer: WriteQueue,
    oneOf readers: Int
  ) {
    while true {
      let taken = monitor.wait { state -> ArraySlice<PendingRead>?? in
        guard !state.jobs.isEmpty else { return state.closing ? .some(nil) : nil }
        state.running += 1
        return state.take(oneOf: max(1, readers))
      }
      guard case .some(.some(let jobs)) = taken else { return }
      // After a failed commit the write-ahead log may hold rows that are not on the disk. A client that acted on such a
      // row could find it gone after the next start.
      if let cause = writer.stopped {
        for job in jobs { job.refuse(DatabaseFailure.stopped(cause)) }
      } else {
        // The read is counted before it is answered, as commits are. A client that has its answer then finds the read
        // in the statistics.
        for _ in jobs { counters.noteRead() }
        context.serve(jobs)
      }
      let isClosing = monitor.withLock { state in
        state.running -= 1
        return state.closing
      }
      if isClosing { monitor.wakeAll() }
    }
  }
}
