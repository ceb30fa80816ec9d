import RegentPairing
import RegentPlatform
import SQLite

/// How many codes may be live at most, as far as is known: it saves counting a hundred thousand rows for each new one.
///
/// It only ever says when counting is needed. Each new code adds one, also one whose transaction is undone later; codes
/// that end take nothing off; counting puts it right. So it is never below the truth while this store alone adds codes,
/// and needs neither a row of its own, which each new code would write, nor a trigger.
final class LiveCodeBound: Sendable {
  private struct Counts {
    var all: LiveCodeCount?
    /// Of requestors that wanted one when there was no room for everybody.
    var own = RequestorCounts()
  }

  private let counts = Locked(Counts())

  /// Takes the place of one more code, if there is room.
  ///
  /// - Returns: the limit that leaves none; `nil` when it was taken.
  func take(_ request: LiveCodeRequest, in context: borrowing WriteContext) throws -> Int? {
    // The writer's thread alone comes here, so nobody waits for the lock while rows are counted.
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
