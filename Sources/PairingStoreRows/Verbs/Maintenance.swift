import RegentCryptography
internal import RegentEncodings
public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  /// Keeps what the service counts.
  public func keepNumbers(_ text: String, as kind: StoredCounters) async throws(StoreError) {
    try await write { context, rows in
      try rows.keep(context, Tables.numbers, NumbersRecord(id: kind.rawValue, text: text))
    }
  }

  /// What was kept last.
  public func keptNumbers(_ kind: StoredCounters) async throws(StoreError) -> String? {
    try await read { context, rows in
      try rows.one(context, Tables.numbers, "\(all: Tables.numbers) WHERE id = \(kind.rawValue)")?
        .record.text
    }
  }

  /// Sees whether anything can be written.
  public func tryWriting() async throws(StoreError) {
    _ = try await write { context, _ in
      // A row that comes and goes: its page goes to the log and is forced to disk. SQLite leaves out a page on which an
      // UPDATE changes nothing.
      try context.run("INSERT INTO numbers (id, text, signature) VALUES ('trial', '', \([UInt8]()))")
      try context.run("DELETE FROM numbers WHERE id = 'trial'")
    }
  }

  /// Forgets what nobody can ask for any more.
  public func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int)
    async throws(StoreError) -> Int
  {
    try await write { context, rows in
      let moment = now.milliseconds
      var left = limit
      let forgettable = (now - CodeLifetime.remembrance).milliseconds
      left -= try context.runCounting(
        """
        DELETE FROM registration WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM registration WHERE expires <= \(forgettable) LIMIT \(left))
        """)
      let ended = try context.all(
        "SELECT id FROM authentication WHERE expires <= \(forgettable) LIMIT \(left)"
      ) { try $0.text(0) }
      for id in ended { left -= try SignedRows.deleteSignIns(context, .id(id)) }
      left -= try context.runCounting(
        """
        DELETE FROM permit WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM permit WHERE expires <= \(forgettable) LIMIT \(left))
        """)
      left -= try context.runCounting(
        """
        DELETE FROM session WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM session WHERE expires <= \(moment) LIMIT \(left))
        """)
      let answered = (now - PlatformExchange.remembrance).milliseconds
      left -= try context.runCounting(
        """
        DELETE FROM used_profile_request WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM used_profile_request WHERE expires <= \(answered) LIMIT \(left))
        """)
      left -= try context.runCounting(
        """
        DELETE FROM enrolment WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM enrolment WHERE expires <= \(moment) LIMIT \(left))
        """)
      left -= try context.runCounting(
        """
        DELETE FROM client_invitation WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM client_invitation WHERE expires <= \(moment) LIMIT \(left))
        """)
      let unpaired = (now - ClientRoom.unpairedLifetime).milliseconds
      left -= try context.runCounting(
        """
        DELETE FROM oauth_client WHERE \(unsafeRawSQL: Dialect.place) IN (
          SELECT \(unsafeRawSQL: Dialect.place) FROM oauth_client
          WHERE origin = \(OAuthClientRecord.Origin.itself.rawValue) AND paired IS NULL AND created <= \(unpaired)
          LIMIT \(left))
        """)
      let remembered = (now - LoginThrottle.memory).milliseconds
      left -= try context.runCounting(
        """
        DELETE FROM login_failure WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM login_failure WHERE last <= \(remembered) LIMIT \(left))
        """)
      left -= try context.runCounting(
        """
        DELETE FROM signing_key WHERE \(unsafeRawSQL: Dialect.place) IN
        (SELECT \(unsafeRawSQL: Dialect.place) FROM signing_key WHERE needed_until <= \(moment) LIMIT \(left))
        """)
      left -= try rows.forgetPasses(context, beyond: passes, at: now, limit: left)
      left -= try rows.forgetFailures(context, beyond: failures, at: now, limit: left)
      return limit - left
    }
  }
}

extension SignedRows {
  /// Forgets the oldest temporary passes that are used up, when there are too many.
  ///
  /// A row keeps its number while its pass lasts, and new ones get higher numbers: two look-ups tell whether there may
  /// be too many, without counting a million rows every few seconds.
  fileprivate func forgetPasses(
    _ context: borrowing WriteContext, beyond most: Int, at now: Instant, limit: Int
  ) throws -> Int {
    let newest: Int64 = try context.value("SELECT coalesce(max(rowid), 0) FROM temporary_pass") ?? 0
    // Somebody may have given a row the smallest number that there is.
    let (last, isNone) = newest.subtractingReportingOverflow(Int64(max(0, most)))
    guard !isNone, limit > 0, try context.exists("SELECT 1 FROM temporary_pass WHERE rowid <= \(last)")
    else { return 0 }
    // The latest start of a pass that is over by now. By the bytes of the name in hexadecimal: these rows are not
    // verified, and one that was changed must not stop the clean-up.
    var latest: [String: Int64] = [:]
    for provider in try all(context, Tables.providers, "\(all: Tables.providers)") {
      guard let rules = provider.record.temporaryPass else { continue }
      latest[Hex.encode(Array(provider.record.id.text.utf8)).uppercased()] =
        (now - rules.duration).milliseconds
    }
    let old = try context.all(
      """
      SELECT rowid, \(unsafeRawSQL: Dialect.providerInHex), coalesce(started, \(now.milliseconds)) FROM temporary_pass
      WHERE rowid <= \(last) ORDER BY rowid LIMIT \(limit)
      """
    ) { row in
      (row: try row.integer(0), provider: try row.text(1), started: try row.integer(2))
    }
    var gone = 0
    for pass in old {
      if let latest = latest[pass.provider], pass.started > latest { continue }
      gone += try context.runCounting("DELETE FROM temporary_pass WHERE rowid = \(pass.row)")
    }
    return gone
  }
}
