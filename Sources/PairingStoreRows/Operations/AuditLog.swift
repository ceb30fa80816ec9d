public import PairingStore
public import RegentPairing
import RegentSQL

extension RowStore {
  public func append(_ entry: AuditEntry) async throws(StoreError) {
    try await write(mayUseReserve: !entry.isOfStranger) { context, rows in try rows.note(context, entry) }
  }

  public func audit(after number: Int64, limit: Int) async throws(StoreError)
    -> [NumberedAuditEntry]
  {
    try await read { context, rows in
      try rows.first(
        limit, context, Tables.audit,
        "\(all: Tables.audit) WHERE number > \(number) ORDER BY number")
    }
  }

  /// Returns the number of the newest audit line from the signed head of the log, because an attacker who inserts a row
  /// can give it any number.
  public func newestAuditNumber() async throws(StoreError) -> Int64 {
    try await read { context, rows in
      if let head = try rows.storedHead(context)?.record { return head.newest }
      return try rows.first(1, context, Tables.audit, "\(all: Tables.audit) ORDER BY number DESC").first?.number ?? 0
    }
  }

  public func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int)
    async throws(StoreError) -> Int
  {
    let thinning = thinning
    // A read transaction first checks whether lines must be deleted, because that is rarely the case.
    let due = try await read { context, rows -> (isOld: Bool, surplus: Int64) in
      guard let head = try rows.storedHead(context)?.record else { return (false, 0) }
      let isOld = try !rows.oldLines(context, head, limit: 1) { retention.isOld($0, newer: $1, at: now) }.isEmpty
      guard thinning.most(of: head) > retention.most else { return (isOld, 0) }
      let count: Int64 =
        try context.value("SELECT count(*) FROM audit WHERE number > \(head.floor) AND number <= \(head.newest)") ?? 0
      thinning.note(count, of: head)
      return (isOld, count - retention.most)
    }
    if due.isOld {
      let gone = try await forgetOldest(limit) { retention.isOld($0, newer: $1, at: now) }
      if gone > 0 { return gone }
    }
    guard due.surplus > 0 else { return 0 }
    // Deletes more lines than necessary, by 1 % of the maximum, so that a million lines need not be counted again soon.
    let wanted = Int(clamping: due.surplus + retention.most / 100)
    let dropped = try await dropLinesOfStrangers(min(limit, wanted))
    if dropped > 0 { return dropped }
    return try await forgetOldest(min(limit, Int(clamping: due.surplus))) { _, _ in true }
  }

  private func forgetOldest(
    _ limit: Int, _ isOver: @escaping @Sendable (Instant, Int64) -> Bool
  ) async throws(StoreError) -> Int {
    try await write(mayUseReserve: true) { context, rows in
      guard let stored = try rows.storedHead(context) else { return 0 }
      let old = try rows.oldLines(context, stored.record, limit: limit, isOver)
      guard let last = old.last else { return 0 }
      var head = stored.record
      var walk = AuditWalk(from: head)
      for line in old { walk.take(line) }
      (head.floor, head.floorChain) = (last.record.number, walk.chain)
      try rows.put(context, Tables.auditHead, head, over: stored)
      // Lines up to the new floor are deleted even if they fail verification.
      try context.run("DELETE FROM audit WHERE number <= \(head.floor)")
      return old.count
    }
  }

  /// Messages about lines that are missing from the audit log; empty when the log is complete.
  ///
  /// It reads the whole log, at most `step` lines in one transaction.
  public func auditProblems(step: Int = 500) async throws(StoreError) -> [String] {
    guard let head = try await read({ context, rows in try rows.storedHead(context)?.record }) else {
      return [AuditWalk.noHead]
    }
    var walk = AuditWalk(from: head)
    while walk.reached < head.newest {
      let last = walk.reached
      let (floor, lines) = try await read { context, rows in
        (
          try rows.storedHead(context)?.record,
          try rows.lines(context, after: last, upTo: head.newest, limit: step)
        )
      }
      // Lines that the store itself deleted meanwhile are no gap.
      if let floor, floor.floor > last { walk.skip(to: floor) }
      for line in lines where line.record.number > walk.reached { walk.take(line) }
      if lines.count < step { break }
    }
    return walk.problems(upTo: head)
  }
}

/// The state of a reader that goes through the audit log line by line and notes missing lines.
struct AuditWalk {
  static let noHead = "what says how far it reaches was removed or changed"

  private(set) var reached: Int64
  private(set) var chain: [UInt8]
  /// Whether a summary of dropped lines (``DroppedLines``) states another hash than the one that was computed from the
  /// lines before it.
  private(set) var hasMismatch = false
  private var gaps: [String] = []

  init(from head: AuditHead) { (reached, chain) = (head.floor, head.floorChain) }

  /// A copy at the same position in the audit log without the gaps found so far, to continue from later.
  ///
  /// Reporting gaps is the task of ``RowStore/auditProblems(step:)``.
  var forgettingGaps: AuditWalk {
    var walk = self
    (walk.gaps, walk.hasMismatch) = ([], false)
    return walk
  }

  mutating func skip(to head: AuditHead) { (reached, chain) = (head.floor, head.floorChain) }

  mutating func take(_ line: Stored<NumberedAuditEntry>) {
    take(line.record.number, line.record.firstSignature ?? line.signature, DroppedLines(line.record))
  }

  /// Adds the next line to the chain, by its number and its first signature.
  mutating func take(_ number: Int64, _ signature: [UInt8], _ dropped: DroppedLines?) {
    // Line numbers are above the floor and ascending, so the subtraction below cannot overflow.
    let first = dropped?.first ?? number
    if first - 1 > reached { miss(reached + 1, first - 1) }
    if let dropped, dropped.before != chain || dropped.first <= reached { hasMismatch = true }
    (reached, chain) = (number, dropped?.after ?? AuditHead.link(chain, signature))
  }

  consuming func problems(upTo head: AuditHead) -> [String] {
    if reached < head.newest { miss(reached + 1, head.newest) }
    guard gaps.isEmpty, chain != head.chain || hasMismatch else { return gaps }
    return ["a line was exchanged for an earlier one of the same number"]
  }

  private mutating func miss(_ first: Int64, _ last: Int64) {
    gaps.append(first == last ? "line \(first) is missing" : "lines \(first) to \(last) are missing")
  }
}

extension SignedRows {
  /// The oldest audit lines, up to the first that need not be deleted yet.
  fileprivate func oldLines<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ head: AuditHead, limit: Int, _ isOver: (Instant, Int64) -> Bool
  ) throws -> [Stored<NumberedAuditEntry>] {
    var old: [Stored<NumberedAuditEntry>] = []
    try walk(
      context, Tables.audit, "\(all: Tables.audit) WHERE number > \(head.floor) ORDER BY number", expecting: limit
    ) { line in
      guard isOver(line.record.entry.at, head.newest - line.record.number) else { return false }
      old.append(line)
      return old.count < limit
    }
    return old
  }

  /// The audit lines after a number whose signatures verify, in order.
  func lines<Context: Querying & ~Copyable>(
    _ context: borrowing Context, after number: Int64, upTo newest: Int64, limit: Int
  ) throws -> [Stored<NumberedAuditEntry>] {
    var found: [Stored<NumberedAuditEntry>] = []
    try walk(
      context, Tables.audit,
      "\(all: Tables.audit) WHERE number > \(number) AND number <= \(newest) ORDER BY number", expecting: limit
    ) {
      found.append($0)
      return found.count < limit
    }
    return found
  }
}
