public import PairingStore
public import RegentPairing
import RegentSQL

extension RowStore {
  /// Appends a line.
  public func append(_ entry: AuditEntry) async throws(StoreError) {
    try await write { context, rows in try rows.note(context, entry) }
  }

  /// The lines after a number.
  public func audit(after number: Int64, limit: Int) async throws(StoreError)
    -> [NumberedAuditEntry]
  {
    try await read { context, rows in
      try rows.first(
        limit, context, Tables.audit,
        "\(all: Tables.audit) WHERE number > \(number) ORDER BY number")
    }
  }

  /// The number of the newest line: from the signed head, because a row that somebody planted may have any.
  public func newestAuditNumber() async throws(StoreError) -> Int64 {
    try await read { context, rows in
      if let head = try rows.storedHead(context)?.record { return head.newest }
      return try rows.first(1, context, Tables.audit, "\(all: Tables.audit) ORDER BY number DESC").first?.number ?? 0
    }
  }

  /// Forgets the oldest lines that are too old or too many.
  public func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int)
    async throws(StoreError) -> Int
  {
    // Looked at by a reader first: nearly always there is nothing to do.
    let isDue = try await read { context, rows in
      try !rows.oldLines(context, beyond: retention, at: now, limit: 1).isEmpty
    }
    guard isDue else { return 0 }
    return try await write { context, rows in
      let old = try rows.oldLines(context, beyond: retention, at: now, limit: limit)
      guard let stored = try rows.storedHead(context), let last = old.last else { return 0 }
      var head = stored.record
      head.floorChain = old.reduce(head.floorChain) { AuditHead.link($0, $1.signature) }
      head.floor = last.record.number
      try rows.put(context, Tables.auditHead, head, over: stored)
      // With those that do not verify: they have no place in the log.
      try context.run("DELETE FROM audit WHERE number <= \(head.floor)")
      return old.count
    }
  }

  /// What is missing from the audit log, in words; empty when it is whole.
  ///
  /// Goes through all of it, a bounded number of lines at a time.
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
          try rows.some(
            step, context, Tables.audit,
            """
            \(all: Tables.audit) WHERE number > \(last) AND number <= \(head.newest) ORDER BY number
            """)
        )
      }
      // Lines may be forgotten meanwhile, which is no gap.
      if let floor, floor.floor > last { walk.skip(to: floor) }
      for line in lines where line.record.number > walk.reached {
        walk.take(line.record.number, line.signature)
      }
      if lines.count < step { break }
    }
    return walk.problems(upTo: head)
  }
}

/// A walk over the lines of the audit log, which notes what is missing between them.
struct AuditWalk {
  static let noHead = "what says how far it reaches was removed or changed"

  private(set) var reached: Int64
  private var chain: [UInt8]
  private var gaps: [String] = []

  init(from head: AuditHead) { (reached, chain) = (head.floor, head.floorChain) }

  mutating func skip(to head: AuditHead) { (reached, chain) = (head.floor, head.floorChain) }

  mutating func take(_ number: Int64, _ signature: [UInt8]) {
    // Behind the floor and in rising order, so nothing here can overflow.
    if number - 1 > reached { miss(reached + 1, number - 1) }
    (reached, chain) = (number, AuditHead.link(chain, signature))
  }

  consuming func problems(upTo head: AuditHead) -> [String] {
    if reached < head.newest { miss(reached + 1, head.newest) }
    guard gaps.isEmpty, chain != head.chain else { return gaps }
    return ["a line was exchanged for an earlier one of the same number"]
  }

  private mutating func miss(_ first: Int64, _ last: Int64) {
    gaps.append(first == last ? "line \(first) is missing" : "lines \(first) to \(last) are missing")
  }
}

extension SignedRows {
  /// The oldest lines, as far as they are to be forgotten.
  fileprivate func oldLines<Context: Querying & ~Copyable>(
    _ context: borrowing Context, beyond retention: AuditRetention, at now: Instant, limit: Int
  ) throws -> [Stored<NumberedAuditEntry>] {
    guard let head = try storedHead(context)?.record else { return [] }
    var old: [Stored<NumberedAuditEntry>] = []
    try walk(
      context, Tables.audit, "\(all: Tables.audit) WHERE number > \(head.floor) ORDER BY number", expecting: limit
    ) { line in
      let newer = head.newest - line.record.number
      guard retention.forgets(line.record.entry.at, newer: newer, at: now) else { return false }
      old.append(line)
      return old.count < limit
    }
    return old
  }

  /// The first rows that verify, with their signatures.
  fileprivate func some<Context: Querying & ~Copyable, Record>(
    _ limit: Int, _ context: borrowing Context, _ table: Table<Record>, _ sql: SQL
  ) throws -> [Stored<Record>] {
    var found: [Stored<Record>] = []
    try walk(context, table, sql, expecting: limit) {
      found.append($0)
      return found.count < limit
    }
    return found
  }
}
