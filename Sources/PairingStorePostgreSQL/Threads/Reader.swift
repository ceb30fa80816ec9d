import PairingStore
import PostgreSQL
import RegentPlatform

/// A thread that reads: what waits for it together, in one transaction.
///
/// Many boxes that ask at once stand on the same few rows, and each statement, and each transaction, costs the server
/// more than a row. So reads that share a transaction are run until each stops at a question; what all of them ask goes
/// out in one round trip, what several ask once; and they are run again with the answers, which are all of one moment.
/// A read may be run again anyway: over another connection.
///
/// Handed to its thread when that starts, and used by it alone, but for ``giveUp()``.
// @unchecked Sendable, because:
// 1. it is made before its thread starts, which orders memory;
// 2. only that thread calls `serve`;
// 3. what it has taken is behind a lock.
final class Reader: @unchecked Sendable {
  private let link: DatabaseLink
  private let taken = Locked([PendingRead]())

  init(_ options: PostgreSQLStoreOptions, _ health: Health) { link = DatabaseLink(options, health) }

  /// Reads in one transaction.
  private static let most = 64
  /// Round trips of reads that share one; who asks more often goes on alone, instead of being run over and over.
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

  /// Tells those that it has taken that there is no answer; it finds out for itself when the database does not answer.
  func giveUp() {
    for read in taken.withLock({ $0 }) { read.refuse(Self.late) }
  }

  static let late = StoreError.unavailable(reason: "the database did not answer in time")

  /// Whether somebody waits for it still; whose time is over is told so.
  private func isInTime(_ read: PendingRead) -> Bool {
    if Clocks.monotonicNanoseconds() < read.ends { return true }
    read.refuse(Self.late)
    return false
  }

  /// Answers reads that share a transaction.
  ///
  /// - Returns: those that have to be answered each in its own.
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
        // Also when the verb has hidden it.
        if context.isStopped { return true }
        switch outcome {
        case .success(let deliver): deliver()
        case .failure(let error): read.refuse(error)
        }
        return false
      }
      guard !open.isEmpty else { break }
      // One question that cannot be asked is not everybody's error, and a connection may only be found broken.
      do { try context.fetch() } catch { break }
    }
    return open
  }

  private func answer(_ read: PendingRead) {
    // A connection that nobody used for a while may be found broken: that is no answer yet.
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
        // Also when the verb has hidden it: a "no" that it made of a failure is none.
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
