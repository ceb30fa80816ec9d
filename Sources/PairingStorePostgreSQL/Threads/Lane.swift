import PairingStore
import PostgreSQL
import RegentPlatform

/// The thread that writes: takes requests, runs them in one transaction, commits, and only then answers.
///
/// Each transaction has a number in the row of `lane` that is this store's own. When nobody knows whether a COMMIT
/// happened, that number tells: the next connection takes the cluster's row, for which it has to wait until the lost
/// transaction has ended, reads the number, and commits; the answers are released after that COMMIT, because it is the
/// one that has waited for the standby.
// @unchecked Sendable, because:
// 1. it is made before its thread starts, which orders memory;
// 2. only that thread calls `serve`.
final class Lane: @unchecked Sendable {
  private let link: DatabaseLink
  private let health: Health
  private let node: String
  private let lane: Int64
  private let announcer: NodeAnnouncer
  private let told: ToldChanges
  /// The number of its last transaction.
  private var number: Int64 = 0
  private var isEnding: () -> Bool = { false }

  private static let batchSize = 256
  private static let tries = 5

  /// `lane` is its row; drawn, so that no two stores have one together, also of one name.
  init(_ options: PostgreSQLStoreOptions, _ health: Health, lane: Int64, announcer: NodeAnnouncer, told: ToldChanges) {
    self.lane = lane
    self.announcer = announcer
    self.told = told
    self.health = health
    link = DatabaseLink(options, health, occupies: true)
    node = options.node
  }

  /// Connects now, and not with the first write: until then nobody would know that a service is there, and a copy that
  /// needs the database to itself would get it.
  func open() throws(PostgreSQLError) { _ = try link.opened() }

  /// Serves requests until the queue is closed and empty.
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

  /// Writes requests in one transaction; when that fails each in one of its own.
  private func write(_ requests: [Request]) {
    guard !requests.isEmpty else { return }
    switch attempt(requests, isShared: true) {
    case .settled: return
    case .away(let error): for request in requests { request.fail(error) }
    // Not those of which somebody was told that their outcome is unknown.
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

  /// Whether what has written nothing may come out otherwise the next time, while somebody waits for it.
  ///
  /// A new connection has its statements parsed anew, for which the server takes the locks of their tables: whoever
  /// holds one of them has it wait there, and not in the COMMIT.
  private static func mayBeRepeated(_ error: any Error) -> Bool {
    guard let error = error as? PostgreSQLError else { return false }
    return error.mayBeRepeated || error.kind == .deadline || error.kind == .lost
  }

  private enum Outcome {
    /// Everybody was answered, or gave up.
    case settled
    /// Nothing was written, and nothing else would be.
    case away(any Error)
    /// Nothing was written.
    case again(any Error)
  }

  private func attempt(_ requests: [Request], isShared: Bool) -> Outcome {
    let transaction: Transaction
    do {
      // Alone nothing is asked ahead: a question that cannot be asked is then the request's own error, and no other's.
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
      // A statement before the COMMIT: whatever broke, nothing was written. Each alone would wait as long again for a
      // database that does not answer.
      return link.isOpen ? .again(failure) : .away(failure)
    }
    // What was refused stands on what this transaction has read, so it is told after it, too.
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

  /// Begins a transaction; over a new connection when the one there was is found broken, as nothing was asked yet.
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

  /// The statement that puts a number into the lane's row.
  private func entry(_ number: Int64) -> SQL {
    """
    INSERT INTO lane (lane, node, n) VALUES (\(lane), \(node), \(number))
    ON CONFLICT (lane) DO UPDATE SET n = EXCLUDED.n, touched = now()
    """
  }

  /// Finds out whether a transaction was committed, however long that takes.
  ///
  /// - Returns: whether it was; not before that is as durable as a COMMIT can be.
  private func resolve(_ wanted: Int64, after error: PostgreSQLError, _ requests: [Request]) -> Bool {
    while true {
      do {
        // With the cluster's row: whoever has it knows that no earlier transaction of this lane goes on.
        let transaction = try begin(isShared: false)
        let rows = try transaction.ask("SELECT n FROM lane WHERE lane = \(lane)")
        let isCommitted = try rows.first.map { try $0.integer(0) == wanted } ?? false
        // It must write something, or its COMMIT would not wait for the standby.
        let touch = entry(isCommitted ? wanted : wanted + 1)
        if case .committed = transaction.commit(touch) {
          number = isCommitted ? wanted : wanted + 1
          return isCommitted
        }
      } catch let error as PostgreSQLError {
        link.note(error)
      } catch {
        // The tables are another version's now, or closed: it may be in them or not, and nothing more is written.
        for request in requests { request.fail(StoreError.unknownOutcome(reason: "\(error)")) }
        return true
      }
      // Nobody waits for it any more, and the database is away: it keeps what it has.
      if isEnding(), !requests.contains(where: \.isOpen) { return true }
      link.pause()
    }
  }

  /// Takes its row out, so that rows of lanes that ended do not pile up.
  private func forgetLane() {
    guard number > 0 else { return }
    do {
      try link.opened().run("DELETE FROM lane WHERE lane = \(lane)", by: link.deadline)
    } catch {
      // One row of a service that ended while its database was away.
    }
  }
}
