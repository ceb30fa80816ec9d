import RegentPairing
import RegentPlatform
import SQLite

/// An upper bound of the number of pending codes, so that a hundred thousand rows need not be counted for each new
/// code.
///
/// The bound only decides whether a count is necessary. Each new code adds one, even if its transaction is rolled back
/// later. Codes that end subtract nothing. A count corrects the bound. As long as this store alone adds codes, the
/// bound is never below the true number. It is kept in memory: a row would have to be written with every new code.
final class LiveCodeBound: Sendable {
  private struct Counts {
    var all: LiveCodeCount?
    /// Upper bounds of the pending codes of single requestors that asked for a code when the pool was full.
    var own = RequestorCounts()
  }

  private let counts = Locked(Counts())

  /// Reserves a place for one more pending code, if there is room.
  ///
  /// - Returns: the limit that is exceeded; nil when a place was reserved.
  func take(_ request: LiveCodeRequest, in context: borrowing WriteContext) throws -> Int? {
    // The lock is held while rows are counted. No thread waits for it, because only the writer thread calls this
    // function.
    try counts.withLock { counts in
      var counted: LiveCodeCount?
      let exceeded = try request.exceeded(
        &counts.all,
        own: {
          let own = try request.own(counts.own[request.requestor]) {
            try context.value(CodeQueries.countLive(of: request.requestor, at: request.now)) ?? 0
          }
          counted = own
          return own
        }, counting: { try context.value(CodeQueries.countLive(at: request.now)) ?? 0 })
      if let counted { counts.own.keep(counted, of: request.requestor) }
      guard exceeded == nil else { return exceeded }
      counts.all?.most += 1
      counts.own.addOne(to: request.requestor)
      return nil
    }
  }
}
