import RegentCryptography
internal import RegentEncodings
import PairingStore
import RegentPairing
import RegentPlatform
import RegentSQL

/// Lines of the audit log that were dropped to make room, as the line tells that has the number of the last of them.
///
/// It is a line like any other, signed as one. It says which hash the chain had before the first of them and after the
/// last, so that the chain goes on over them, and a line that somebody else deletes is missed still.
struct DroppedLines {
  static let action = "audit.thin"

  /// The number of the first of them; the last has the number of the line that tells of them.
  let first: Int64
  let count: Int64
  let before: [UInt8]
  let after: [UInt8]

  init(first: Int64, count: Int64, before: [UInt8], after: [UInt8]) {
    (self.first, self.count, self.before, self.after) = (first, count, before, after)
  }

  /// Reads such a line; nil for all others.
  init?(_ number: Int64, _ action: String, _ subject: String, _ detail: String) {
    guard action == Self.action else { return nil }
    let (numbers, words) = (subject.split(separator: " "), detail.split(separator: " "))
    guard numbers.count == 4, let first = Int64(numbers[1]), Int64(numbers[3]) == number, first <= number,
      words.count > 3, let count = Int64(words[0]), let after = try? Hex.decode(String(words[words.count - 1]))
    else { return nil }
    let start = words[words.count - 3]
    guard let before = start == Self.noHash ? [] : try? Hex.decode(String(start)) else { return nil }
    self.init(first: first, count: count, before: before, after: after)
  }

  init?(_ line: NumberedAuditEntry) {
    self.init(line.number, line.entry.action, line.entry.subject, line.entry.detail)
  }

  /// Reads such a line as its row has it.
  init?(_ values: [SQLValue]) {
    guard case .integer(let number) = values[0], case .text(let action) = values[3],
      case .text(let subject) = values[4], case .text(let detail) = values[6]
    else { return nil }
    self.init(number, action, subject, detail)
  }

  /// The line that tells of them, with the time of the last.
  func line(_ number: Int64, at time: Instant) -> NumberedAuditEntry {
    NumberedAuditEntry(
      number: number,
      entry: AuditEntry(
        at: time, actor: .service, action: Self.action, subject: "lines \(first) to \(number)",
        detail: "\(count) lines that strangers caused made room for others; chain from "
          + "\(before.isEmpty ? Self.noHash : Hex.encode(before)) to \(Hex.encode(after))"))
  }

  /// Of a log that begins.
  private static let noHash = "nothing"
}

/// How far a store has looked for lines that can be dropped, and how many were: counting a million lines, and walking
/// over those that stay, are for the first time after a start.
final class AuditThinning: Sendable {
  private struct State {
    var floor: Int64 = -1
    var dropped: Int64 = 0
    var walk: AuditWalk?
  }

  private let state = Locked(State())

  /// How many lines there are at most.
  ///
  /// Too many at worst: lines that another node dropped are not known here.
  func most(of head: AuditHead) -> Int64 {
    state.withLock { head.newest - head.floor - ($0.floor == head.floor ? $0.dropped : 0) }
  }

  /// Notes how many lines there are.
  func note(_ count: Int64, of head: AuditHead) {
    state.withLock { ($0.floor, $0.dropped) = (head.floor, head.newest - head.floor - count) }
  }

  /// Where the next search begins.
  var walk: AuditWalk? {
    get { state.withLock { $0.walk } }
    set { state.withLock { $0.walk = newValue } }
  }
}

extension RowStore {
  /// Drops the oldest lines of strangers, so many at most.
  ///
  /// Lines that stand side by side become one that tells of them, so those that stay and those that tell are at most
  /// twice the lines that are kept for good.
  ///
  /// - Returns: how many there are less.
  func dropLinesOfStrangers(_ most: Int) async throws(StoreError) -> Int {
    var gone = 0
    while gone < most, let walk = try await droppable() {
      let left = most - gone
      let dropped = try await write { context, rows in try rows.drop(context, behind: walk, most: left) }
      guard dropped > 0 else {
        thinning.walk = nil
        break
      }
      gone += dropped
    }
    return gone
  }

  /// A walk up to the next two lines that can become one; nil when there are none.
  private func droppable(step: Int = 500) async throws(StoreError) -> AuditWalk? {
    while true {
      let last = thinning.walk
      let found = try await read { context, rows -> (walk: AuditWalk, isThere: Bool, goesOn: Bool)? in
        guard let head = try rows.storedHead(context)?.record else { return nil }
        var walk = last ?? AuditWalk(from: head)
        if head.floor > walk.reached { walk.skip(to: head) }
        let lines = try rows.lines(context, after: walk.reached, upTo: head.newest, limit: step)
        for (place, line) in lines.enumerated() {
          if line.record.isDroppable {
            // The newest may become one with a line that comes.
            guard place + 1 < lines.count else { return (walk, false, lines.count == step) }
            if lines[place + 1].record.follows(line.record) { return (walk, true, true) }
          }
          walk.take(line)
        }
        return (walk, false, lines.count == step)
      }
      guard let found else { return nil }
      thinning.walk = found.walk.forgettingGaps
      if found.isThere { return found.walk.forgettingGaps }
      guard found.goesOn else { return nil }
    }
  }
}

extension NumberedAuditEntry {
  fileprivate var isDroppable: Bool { entry.isOfStranger || DroppedLines(self) != nil }

  /// Whether it can be dropped together with the line before it.
  fileprivate func follows(_ line: NumberedAuditEntry) -> Bool {
    isDroppable && (DroppedLines(self)?.first ?? number) == line.number + 1
  }
}

extension SignedRows {
  /// Makes one line of those behind a walk.
  fileprivate func drop(
    _ context: borrowing WriteContext, behind walk: AuditWalk, most: Int
  ) throws -> Int {
    guard let head = try storedHead(context)?.record, head.floor <= walk.reached else { return 0 }
    var run: [Stored<NumberedAuditEntry>] = []
    for line in try lines(context, after: walk.reached, upTo: head.newest, limit: most + 1) {
      guard run.last.map({ line.record.follows($0.record) }) ?? line.record.isDroppable else { break }
      run.append(line)
    }
    guard run.count > 1, let first = run.first?.record, let last = run.last?.record else { return 0 }
    var end = walk
    for line in run { end.take(line) }
    // Somebody changed what stands there: it must be missed still.
    guard !end.hasMismatch else { return 0 }
    let told = run.map { DroppedLines($0.record) }
    let dropped = DroppedLines(
      first: told[0]?.first ?? first.number, count: told.reduce(0) { $0 + ($1?.count ?? 1) }, before: walk.chain,
      after: end.chain)
    try context.run("DELETE FROM audit WHERE number >= \(first.number) AND number <= \(last.number)")
    try insert(context, Tables.audit, dropped.line(last.number, at: last.entry.at))
    return run.count - 1
  }
}
