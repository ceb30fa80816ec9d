import PairingStore
import PostgreSQL
import RegentPlatform

/// A thread that reads from the database.
///
/// It answers the requests that wait at the same time in one transaction.
///
/// When many boxes send requests at once, these depend on the same few rows, and each statement and transaction costs
/// the server more than a row. Reads that share a transaction therefore run until each needs a query whose result is
/// missing. These queries go out in one round trip, equal ones once. Then the reads run again with the results, which
/// are all of one moment. A read must be repeatable anyway, because its connection may break.
///
/// Only its thread uses it, except for ``giveUp()``.
// @unchecked Sendable, because:
// 1. it is made before its thread starts, which orders memory;
// 2. only that thread calls `serve`;
// 3. what it has taken is behind a lock.
final class Reader: @unchecked Sendable {
  private let link: DatabaseLink
  private let taken = Locked([PendingRead]())

  init(_ options: PostgreSQLStoreOptions, _ health: Health) { link = DatabaseLink(options, health) }

  /// The maximum number of reads in one transaction.
  private static let most = 64
  /// The maximum number of round trips of reads that share a transaction.
  ///
  /// A read that needs more continues in a transaction of its own, instead of being run again and again.
  private static let mostRounds = 8

  func serve(_ queue: Monitor<Queue<PendingRead>>) {
    while true {
      let reads: [PendingRead] = queue.next(Self.most)
      guard !reads.isEmpty else { break }
      taken.withLock { $0 = reads }
      defer { taken.withLock { $0 = [] } }
      for read in reads.count > 1 ? together(reads.filter(isInTime)) : reads where isInTime(read) { answer(read) }
    }
    link.close()
  }

  /// Fails the reads that this thread has taken and not answered.
  ///
  /// The thread itself may still wait for the database; it gives up later.
  func giveUp() {
    for read in taken.withLock({ $0 }) { read.refuse(Self.late) }
  }

  static let late = StoreError.unavailable(reason: "the database did not answer in time")

  /// Whether the read's deadline has not passed.
  ///
  /// If it has, the read fails.
  private func isInTime(_ read: PendingRead) -> Bool {
    if Clocks.monotonicNanoseconds() < read.ends { return true }
    read.refuse(Self.late)
    return false
  }

  /// Answers reads in one shared transaction.
  ///
  /// - Returns: the reads that must be run alone.
  private func together(_ reads: [PendingRead]) -> [PendingRead] {
    guard let connection = try? link.opened() else { return reads }
    let context = ReadContext(connection, isShared: true, by: link.deadline)
    defer {
      link.note(context.failure)
      context.end()
    }
    var open = reads
    for _ in 1...Self.mostRounds {
      open = open.filter { read in
        context.beginRead()
        let outcome = Result { try read.run(context) }
        // A read whose query has no result yet stops with an error. The read may catch this error and end as if it were
        // complete, so look at the flag and not only at the outcome.
        if context.isStopped { return true }
        switch outcome {
        case .success(let deliver): deliver()
        case .failure(let error): read.refuse(error)
        }
        return false
      }
      guard !open.isEmpty else { break }
      // After a failure each read runs alone. One bad query must not fail the other reads, and an idle connection may
      // have broken.
      do { try context.fetch() } catch { break }
    }
    return open
  }

  private func answer(_ read: PendingRead) {
    // If an idle connection turns out to be broken, the read runs once more on a new one.
    for isLast in [false, true] {
      let context: ReadContext
      do {
        context = ReadContext(try link.opened(), by: link.deadline)
      } catch {
        return read.refuse(error)
      }
      let outcome = Result { try read.run(context) }
      link.note(context.failure)
      if let failure = context.failure {
        context.end()
        if !isLast, !link.isOpen, failure.kind != .deadline { continue }
        // Checked here too: the store operation may have caught the error. It may then return a negative result that
        // comes from the failure, which the caller must not get.
        return read.refuse(failure)
      }
      switch outcome {
      case .success(let deliver): deliver()
      case .failure(let error): read.refuse(error)
      }
      return context.end()
    }
  }
}
