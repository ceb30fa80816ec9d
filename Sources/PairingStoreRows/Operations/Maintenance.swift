import RegentCryptography
internal import RegentEncodings
public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func keepNumbers(_ text: String, as kind: StoredCounters, of node: NodeID?) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, rows in
      try rows.keep(context, Tables.numbers, NumbersRecord(id: NumbersRecord.id(kind, node), text: text))
    }
  }

  public func keptNumbers(_ kind: StoredCounters, of node: NodeID?) async throws(StoreError) -> String? {
    try await read { context, rows in
      try rows.one(context, Tables.numbers, "\(all: Tables.numbers) WHERE id = \(NumbersRecord.id(kind, node))")?
        .record.text
    }
  }

  public func keptNumbersOfNodes(_ kind: StoredCounters) async throws(StoreError) -> [NodeID: String] {
    try await read { context, rows in
      let first = NumbersRecord.id(kind, nil) + " "
      // The range contains exactly the ids with a node name, because `!` is the character after the space in ASCII.
      let all = try rows.all(
        context, Tables.numbers,
        "\(all: Tables.numbers) WHERE id > \(first) AND id < \(NumbersRecord.id(kind, nil) + "!")")
      return all.reduce(into: [:]) { found, row in
        if let node = NodeID(String(row.record.id.dropFirst(first.count))) { found[node] = row.record.text }
      }
    }
  }

  public func tryWriting() async throws(StoreError) {
    _ = try await write(mayUseReserve: true) { context, _ in
      // Inserts a row and deletes it again. That reaches the disk on both databases, while an UPDATE without a change
      // need not.
      try context.run("INSERT INTO numbers (id, text, signature) VALUES ('trial', '', \([UInt8]()))")
      try context.run("DELETE FROM numbers WHERE id = 'trial'")
    }
    try await requireRoom()
  }

  public func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int)
    async throws(StoreError) -> Int
  {
    try await write(mayUseReserve: true) { context, rows in
      let moment = now.milliseconds
      var left = limit
      let forgettable = (now - CodeLifetime.remembrance).milliseconds
      left -= try SignedRows.deleteSome(context, left, of: "registration", where: "expires <= \(forgettable)")
      let ended = try context.all(
        "SELECT id FROM authentication WHERE expires <= \(forgettable) LIMIT \(left)"
      ) { try $0.text(0) }
      for id in ended { left -= try SignedRows.deleteSignIns(context, .id(id)) }
      left -= try SignedRows.deleteSome(context, left, of: "permit", where: "expires <= \(forgettable)")
      left -= try SignedRows.deleteSome(context, left, of: "session", where: "expires <= \(moment)")
      let answered = (now - PlatformExchange.remembrance).milliseconds
      left -= try SignedRows.deleteSome(context, left, of: "used_profile_request", where: "expires <= \(answered)")
      left -= try SignedRows.deleteSome(context, left, of: "enrolment", where: "expires <= \(moment)")
      left -= try SignedRows.deleteSome(context, left, of: "client_invitation", where: "expires <= \(moment)")
      let unpaired = (now - ClientRoom.unpairedLifetime).milliseconds
      for origin in OAuthClientRecord.Origin.forgotten {
        left -= try SignedRows.deleteSome(
          context, left, of: "oauth_client",
          where: "origin = \(origin.rawValue) AND paired IS NULL AND created <= \(unpaired)")
      }
      let remembered = (now - LoginThrottle.memory).milliseconds
      left -= try SignedRows.deleteSome(context, left, of: "login_failure", where: "last <= \(remembered)")
      left -= try SignedRows.deleteSome(context, left, of: "signing_key", where: "needed_until <= \(moment)")
      left -= try rows.forgetPasses(context, beyond: passes, at: now, limit: left)
      left -= try rows.forgetFailures(context, beyond: failures, at: now, limit: left)
      return limit - left
    }
  }
}

extension SignedRows {
  /// Deletes up to `limit` rows of a table that satisfy the condition.
  ///
  /// The limit is in a subquery, because neither database supports LIMIT in DELETE.
  fileprivate static func deleteSome(
    _ context: borrowing WriteContext, _ limit: Int, of table: String, where condition: SQL
  ) throws -> Int {
    try context.runCounting(
      """
      DELETE FROM \(unsafeRawSQL: table) WHERE \(unsafeRawSQL: Dialect.place) IN
      (SELECT \(unsafeRawSQL: Dialect.place) FROM \(unsafeRawSQL: table) WHERE \(part: condition) LIMIT \(limit))
      """)
  }

  /// Deletes the oldest temporary passes that have ended, when the table holds too many.
  ///
  /// A pass keeps its `rowid`, and later passes get higher ones. Two look-ups of `rowid` values therefore show whether
  /// there may be too many, without counting a million rows every few seconds.
  fileprivate func forgetPasses(
    _ context: borrowing WriteContext, beyond most: Int, at now: Instant, limit: Int
  ) throws -> Int {
    let newest: Int64 = try context.value("SELECT coalesce(max(rowid), 0) FROM temporary_pass") ?? 0
    // An attacker may have given a row the smallest possible number, so the subtraction is checked for overflow.
    let (last, isNone) = newest.subtractingReportingOverflow(Int64(max(0, most)))
    guard !isNone, limit > 0, try context.exists("SELECT 1 FROM temporary_pass WHERE rowid <= \(last)")
    else { return 0 }
    // For each provider, reads the latest start time of a pass that has ended by now. Provider ids are compared as
    // hexadecimal bytes: these rows are not verified, and a corrupt text must not stop the clean-up.
    var latest: [String: Int64] = [:]
    for provider in try all(context, Tables.providers, "\(all: Tables.providers)") {
      guard let rules = provider.record.temporaryPass else { continue }
      latest[Hex.encode(Array(provider.record.id.text.utf8)).uppercased()] =
        (now - rules.duration).milliseconds
    }
    /// Deletes the passes that have ended among the first `limit` rows from one on.
    func forget(from first: Int64) throws -> (gone: Int, seen: Int, newest: Int64) {
      let old = try context.all(
        """
        SELECT rowid, \(unsafeRawSQL: Dialect.providerInHex), coalesce(started, \(now.milliseconds)) FROM temporary_pass
        WHERE rowid >= \(first) AND rowid <= \(last) ORDER BY rowid LIMIT \(limit)
        """
      ) { row in
        (row: try row.integer(0), provider: try row.text(1), started: try row.integer(2))
      }
      var gone = 0
      for pass in old {
        if let latest = latest[pass.provider], pass.started > latest { continue }
        gone += try context.runCounting("DELETE FROM temporary_pass WHERE rowid = \(pass.row)")
      }
      return (gone, old.count, old.last?.row ?? last)
    }
    let first = try forget(from: .min)
    guard first.gone == 0, first.seen == limit, first.newest < last else { return first.gone }
    // The oldest passes all run, so ended ones may lie anywhere behind them. A random place finds them after a few
    // rounds, with bounded work in each and nothing to remember between them.
    return try forget(from: Int64.random(in: first.newest + 1...last)).gone
  }
}
