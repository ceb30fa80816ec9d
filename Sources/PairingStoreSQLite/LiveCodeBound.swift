import RegentPlatform
import SQLite

/// How many codes may be live at most, as far as is known: it saves counting a hundred thousand rows for each new one.
///
/// It only ever says when counting is needed. Each new code adds one, also one whose transaction is undone later; codes
/// that end take nothing off; counting puts it right. So it is never below the truth while this store alone adds codes,
/// and needs neither a row of its own, which each new code would write, nor a trigger.
final class LiveCodeBound: Sendable {
  private let most = Locked<Int?>(nil)

  /// Takes the place of one more code with which `freed` others end, if there is room: `count` counts those that live.
  func take(
    in _: borrowing WriteContext, below limit: Int, freed: Int, counting count: () throws -> Int
  ) rethrows -> Bool {
    if let known = most.withLock({ $0 }), known - freed < limit {
      most.withLock { $0 = known + 1 }
      return true
    }
    // The writer's thread alone comes here, so nobody takes a place meanwhile.
    let live = try count()
    let hasRoom = live - freed < limit
    most.withLock { $0 = hasRoom ? live + 1 : live }
    return hasRoom
  }
}
