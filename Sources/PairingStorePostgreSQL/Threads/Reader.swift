import PairingStore
import PostgreSQL
import RegentPlatform

/// A thread that reads.
///
/// Handed to its thread when that starts, and used by it alone.
// @unchecked Sendable, because:
// 1. it is made before its thread starts, which orders memory;
// 2. only that thread calls `serve`.
final class Reader: @unchecked Sendable {
  private let link: DatabaseLink

  init(_ options: PostgreSQLStoreOptions, _ health: Health) { link = DatabaseLink(options, health) }

  func serve(_ queue: Monitor<Queue<PendingRead>>) {
    while let read = queue.next(1).first { answer(read) }
    link.close()
  }

  private func answer(_ read: PendingRead) {
    guard Clocks.monotonicNanoseconds() < read.ends else {
      return read.refuse(StoreError.unavailable(reason: "the database did not answer in time"))
    }
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
