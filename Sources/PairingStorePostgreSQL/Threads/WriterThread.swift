import PairingStore
import PostgreSQL
import RegentPlatform

/// The thread that writes: it takes requests, runs them in one transaction, commits, and answers only then.
///
/// Each transaction stores its number in this store's own row of the table `lane`. If the outcome of a COMMIT is
/// unknown, the thread finds it out over a new connection. It locks the cluster's row, for which it must wait until the
/// lost transaction has ended, reads the number, and commits. It answers the requests after that COMMIT, because that
/// is the one that has waited for the standby.
// @unchecked Sendable, because:
// 1. it is made before its thread starts, which orders memory;
// 2. only that thread calls `serve`.
final class WriterThread: @unchecked Sendable {
  private let link: DatabaseLink
  private let health: Health
  private let node: String
  private let lane: Int64
  private let announcer: NodeAnnouncer
  private let told: ReportedChanges
  /// The number of this thread's last transaction.
  private var number: Int64 = 0
  private var isEnding: () -> Bool = { false }

  private static let batchSize = 256
  private static let tries = 5

  /// Makes the writer.
  ///
  /// `lane` identifies its row in the table `lane`.
  ///
  /// It is random, so that two stores never share a row, even with the same node name.
  init(
    _ options: PostgreSQLStoreOptions, _ health: Health, lane: Int64, announcer: NodeAnnouncer, told: ReportedChanges
  ) {
    self.lane = lane
    self.announcer = announcer
    self.told = told
    self.health = health
    link = DatabaseLink(options, health, occupies: true)
    node = options.node
  }

  /// Connects before the first write.
  ///
  /// Otherwise a copy of the database would not notice that a service uses it.
  func open() throws(PostgreSQLError) { _ = try link.opened() }

  func serve(_ queue: Monitor<Queue<Request>>) {
    isEnding = { queue.withLock { $0.isClosed } }
    while true {
      let requests: [Request] = queue.next(Self.batchSize)
      guard !requests.isEmpty else { break }
      write(requests.filter { $0.begin() })
    }
    forgetLane()
    link.close()
  }

  /// Runs write requests in one transaction.
  ///
  /// If that fails, it runs each request in a transaction of its own.
  private func write(_ requests: [Request]) {
    guard !requests.isEmpty else { return }
    switch attempt(requests, isShared: true) {
    case .settled: return
    case .away(let error): for request in requests { request.fail(error) }
    // Requests whose callers have been told that the outcome is unknown are not run again.
    case .again: for request in requests where request.isOpen { writeAlone(request) }
    }
  }

  private func writeAlone(_ request: Request) {
    for turn in 1...Self.tries {
      switch attempt([request], isShared: false) {
      case .settled: return
      case .away(let error): return request.fail(error)
      case .again(let error):
        guard Self.mayBeRepeated(error), turn < Self.tries, request.isOpen else { return request.fail(error) }
      }
    }
  }

  /// Whether a request that has failed without writing may succeed when it is repeated.
  ///
  /// This includes a missed deadline. On a new connection the server must parse the statements again, for which it
  /// locks their tables. If another session holds such a lock, the statement fails there and not in the COMMIT, so
  /// nothing was written.
  private static func mayBeRepeated(_ error: any Error) -> Bool {
    guard let error = error as? PostgreSQLError else { return false }
    return error.mayBeRepeated || error.kind == .deadline || error.kind == .lost
  }

  private enum Outcome {
    /// All requests of the transaction are answered, or their callers have given up.
    case settled
    /// The transaction wrote nothing, and further attempts would fail, too.
    case away(any Error)
    /// The transaction wrote nothing, and another attempt may succeed.
    case again(any Error)
  }

  private func attempt(_ requests: [Request], isShared: Bool) -> Outcome {
    let transaction: Transaction
    do {
      // A request that runs alone declares no queries in advance, so that an error of a query becomes an error of this
      // request.
      transaction = try begin(isShared: isShared, asking: isShared ? requests.flatMap(\.questions) : [])
      if isShared { try transaction.askAhead(requests.compactMap(\.moreQuestions)) }
    } catch {
      return isShared && error is PostgreSQLError && link.isOpen ? .again(error) : .away(error)
    }
    let context = WriteContext(transaction)
    var answers: [(request: Request, deliver: @Sendable () -> Void)] = []
    var refusals: [(request: Request, error: any Error)] = []
    var unfit: (any Error)?
    for request in requests {
      transaction.beginRequest()
      do {
        answers.append((request, try request.run(context)))
        transaction.endRequest()
      } catch {
        guard transaction.failure == nil, !(error is PostgreSQLError) else {
          unfit = error
          break
        }
        refusals.append((request, error))
        transaction.undoRequest()
      }
    }
    if let failure = transaction.failure ?? unfit {
      transaction.rollBack()
      link.note(transaction.failure)
      if let failure = transaction.failure { health.noteRollback(failure) }
      // The failure came before the COMMIT, so nothing was written. Each request could now run alone. But if the
      // connection is lost, each would only wait as long as this transaction did.
      return link.isOpen ? .again(failure) : .away(failure)
    }
    // The transaction may have refused a request because of rows that it read or wrote. These rows are certain only
    // after the COMMIT. So refusals are sent after the COMMIT, like successful results.
    func settle() {
      var isTold = true
      for (request, deliver) in answers where !request.release(deliver) { isTold = false }
      for (request, error) in refusals { request.fail(error) }
      guard let change = transaction.changeNumber else { return }
      if isTold { told.note(change) }
      announcer.ring(.news)
    }
    guard transaction.hasWritten else {
      transaction.rollBack()
      settle()
      return .settled
    }
    let next = number + 1
    let began = Clocks.monotonicNanoseconds()
    func count() {
      health.noteCommit(requests: answers.count, nanoseconds: Clocks.monotonicNanoseconds() - began)
    }
    switch transaction.commit(entry(next), of: lane) {
    case .committed:
      number = next
      link.note(nil)
      count()
      settle()
      return .settled
    case .notCommitted(let error):
      link.note(error)
      health.noteRollback(error)
      return .again(error)
    case .unknown(let error):
      link.note(error)
      guard resolve(next, after: error, requests) else {
        health.noteRollback(error)
        return .again(error)
      }
      count()
      settle()
      return .settled
    }
  }

  /// Begins a write transaction.
  ///
  /// If the connection turns out to be broken, it begins on a new one, because nothing was sent yet.
  private func begin(isShared: Bool, asking questions: [Question] = []) throws -> Transaction {
    let connection = try link.opened()
    do {
      return try Transaction(connection, isShared: isShared, asking: questions, by: link.deadline)
    } catch let error as PostgreSQLError where !connection.isOpen && error.kind != .deadline {
      link.note(error)
      return try Transaction(link.opened(), isShared: isShared, asking: questions, by: link.deadline)
    } catch {
      if connection.isOpen { connection.undo(by: link.deadline) }
      link.note(error as? PostgreSQLError)
      throw error
    }
  }

  /// The statement that stores a transaction's number in this thread's row of the table `lane`.
  private func entry(_ number: Int64) -> SQL {
    """
    INSERT INTO lane (lane, node, n) VALUES (\(lane), \(node), \(number))
    ON CONFLICT (lane) DO UPDATE SET n = EXCLUDED.n, touched = now()
    """
  }

  /// Finds out whether a transaction was committed, however long that takes.
  ///
  /// - Returns: whether the transaction was committed. If so, it is as durable as a confirmed COMMIT.
  private func resolve(_ wanted: Int64, after error: PostgreSQLError, _ requests: [Request]) -> Bool {
    while true {
      do {
        // The lock on the cluster's row shows that no earlier transaction of this thread is still running.
        let transaction = try begin(isShared: false)
        let rows = try transaction.ask("SELECT n FROM lane WHERE lane = \(lane)")
        let isCommitted = try rows.first.map { try $0.integer(0) == wanted } ?? false
        // The transaction must write something. Otherwise its COMMIT would not wait for the standby.
        let touch = entry(isCommitted ? wanted : wanted + 1)
        if case .committed = transaction.commit(touch) {
          number = isCommitted ? wanted : wanted + 1
          return isCommitted
        }
      } catch let error as PostgreSQLError {
        link.note(error)
      } catch {
        // The tables have another version now, or the database was closed to services. The rows may or may not contain
        // the transaction, and this store can write no more.
        for request in requests { request.fail(StoreError.unknownOutcome(reason: "\(error)")) }
        return true
      }
      // All callers have given up, and the store is closing while the database is unreachable. The outcome stays
      // unknown.
      if isEnding(), !requests.contains(where: \.isOpen) { return true }
      link.pause()
    }
  }

  /// Deletes this thread's row of the table `lane`, so that rows of ended stores do not accumulate.
  private func forgetLane() {
    guard number > 0 else { return }
    do {
      try link.opened().run("DELETE FROM lane WHERE lane = \(lane)", by: link.deadline)
    } catch {
      // The error is ignored: if the database is unreachable when a service ends, one row remains.
    }
  }
}
