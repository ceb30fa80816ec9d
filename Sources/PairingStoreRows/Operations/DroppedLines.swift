import RegentCryptography
internal import RegentEncodings
import PairingStore
import RegentPairing
import RegentPlatform
import RegentSQL

/// A summary of audit lines that were dropped because the log was full.
///
/// It has the number of the last dropped line. It is a signed line like the others, and states the value of the hash
/// chain before the first dropped line and after the last one. The chain thus continues over the dropped lines, and a
/// line that an attacker deletes is still detected.
struct DroppedLines {
  static let action = "audit.thin"

  /// The number of the first dropped audit line.
  ///
  /// The number of the summary itself is that of the last dropped line.
  let first: Int64
  let count: Int64
  let before: [UInt8]
  let after: [UInt8]

  init(first: Int64, count: Int64, before: [UInt8], after: [UInt8]) {
    (self.first, self.count, self.before, self.after) = (first, count, before, after)
  }

  /// Parses an audit line that summarizes dropped lines; nil for other lines.
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

  /// Parses the values of an audit row as a summary of dropped lines; nil for other rows.
  init?(_ values: [SQLValue]) {
    guard case .integer(let number) = values[0], case .text(let action) = values[3],
      case .text(let subject) = values[4], case .text(let detail) = values[6]
    else { return nil }
    self.init(number, action, subject, detail)
  }

  /// The audit line that holds this summary.
  ///
  /// Its time is that of the last dropped line.
  func line(_ number: Int64, at time: Instant) -> NumberedAuditEntry {
    NumberedAuditEntry(
      number: number,
      entry: AuditEntry(
        at: time, actor: .service, action: Self.action, subject: "lines \(first) to \(number)",
        detail: "\(count) lines of unauthenticated clients were deleted because the log was full; hash chain from "
          + "\(before.isEmpty ? Self.noHash : Hex.encode(before)) to \(Hex.encode(after))"))
  }

  /// The text for the hash of an empty chain, at the beginning of a log.
  private static let noHash = "nothing"
}

/// What a store remembers between its searches for audit lines to drop.
///
/// A million lines are thus counted and read only once after a start.
final class AuditThinning: Sendable {
  private struct AuditThinningState {
    var floor: Int64 = -1
    var dropped: Int64 = 0
    var walk: AuditWalk?
  }

  private let state = Locked(AuditThinningState())

  /// An upper bound of the number of audit lines.
  ///
  /// It is higher than the real number when another node has dropped lines.
  func most(of head: AuditHead) -> Int64 {
    state.withLock { head.newest - head.floor - ($0.floor == head.floor ? $0.dropped : 0) }
  }

  /// Remembers a new count of the audit lines.
  func note(_ count: Int64, of head: AuditHead) {
    state.withLock { ($0.floor, $0.dropped) = (head.floor, head.newest - head.floor - count) }
  }

  /// The position in the audit log from which the next search for lines to drop continues.
  var walk: AuditWalk? {
    get { state.withLock { $0.walk } }
    set { state.withLock { $0.walk = newValue } }
  }
}

extension RowStore {
  /// Drops up to `most` of the oldest audit lines that untrusted clients caused.
  ///
  /// Adjacent dropped lines share one summary, so the log has at most one summary for each line that is kept
  /// permanently.
  ///
  /// - Returns: by how many lines the log is shorter.
  func dropLinesOfStrangers(_ most: Int) async throws(StoreError) -> Int {
    var gone = 0
    while gone < most, let walk = try await droppable() {
      let left = most - gone
      let dropped = try await write(mayUseReserve: true) { context, rows in
        try rows.drop(context, behind: walk, most: left)
      }
      guard dropped > 0 else {
        thinning.walk = nil
        break
      }
      gone += dropped
    }
    return gone
  }

  /// Searches the audit log for the next two adjacent lines that one summary can replace.
  ///
  /// Returns the position before them; nil when no such lines are left.
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
            // A later line may form a pair with the newest one, so the next search must look at the newest line again.
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

  /// Whether one summary can replace this audit line together with the line before it.
  fileprivate func follows(_ line: NumberedAuditEntry) -> Bool {
    isDroppable && (DroppedLines(self)?.first ?? number) == line.number + 1
  }
}

extension SignedRows {
  /// Replaces a sequence of audit lines of untrusted clients by one summary line.
  ///
  /// The sequence begins directly after the position that `walk` has reached in the log.
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
    // The hashes do not fit, so an attacker has changed lines. They must stay, so that the change is still detected.
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
