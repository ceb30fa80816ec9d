public import PairingStore
public import RegentPairing
import RegentPlatform

extension PostgreSQLStore {
  /// Always: others may come.
  public var isShared: Bool { true }

  /// Where the log of changes ends now; of nonces everything is told that may count still, from the beginning.
  public func endOfChanges() async throws(StoreError) -> ChangePosition {
    try await read { context, _ in
      var position = ChangePosition()
      position.change = try context.value("SELECT changes FROM cluster WHERE id = 1") ?? 0
      position.nonce = 0
      return position
    }
  }

  /// What others wrote behind a position, and what this store wrote when nobody was told what came of it.
  public func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    do {
      return try await database.changes(after: position, waiting: span)
    } catch {
      throw StoreError(of: error)
    }
  }

  /// Tells the other nodes which nonces were used here.
  public func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    share(nonces, [], told)
  }

  /// Tells the other nodes what was guessed wrong here.
  public func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    share([], guesses, told)
  }

  private func share(
    _ nonces: [UsedNonce], _ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    guard !nonces.isEmpty || !guesses.isEmpty else { return told(.success(())) }
    database.announcer.share(
      PendingWords(nonces: nonces, guesses: guesses) { told($0.mapError(StoreError.init(of:))) })
  }

  /// The nodes that were heard of within a day.
  public func nodes() async throws(StoreError) -> [NodeRecord] {
    try await read { context, _ in
      let found = try context.all(
        """
        SELECT name, version,
        CASE WHEN isfinite(started) THEN CAST(extract(epoch FROM started) * 1000 AS BIGINT) ELSE 0 END,
        CASE WHEN \(part: Moments.isComing("seen")) THEN CAST(\(Presence.memory) AS BIGINT)
          ELSE CAST(greatest(extract(epoch FROM now() - seen), 0) * 1000 AS BIGINT) END, said, wish
        FROM node WHERE \(part: Presence.isRemembered) ORDER BY name
        """
      ) { row in
        NodeID(try row.text(0)).map { id in
          NodeRecord(
            id: id, version: (try? row.text(1)) ?? "",
            started: Instant(milliseconds: (try? row.integer(2)) ?? 0),
            silence: .milliseconds((try? row.integer(3)) ?? 0), said: (try? row.text(4)) ?? "",
            instruction: (try? row.text(5)).flatMap(NodeInstruction.init))
        }
      }
      return found.compactMap(\.self)
    }
  }

  /// What this node says of itself with its next beat.
  public func report(_ said: String) async throws(StoreError) -> ClusterStatus { database.announcer.report(said) }

  /// Tells a node what operators want of it; it hears that with its next beat.
  public func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool {
    try await write { context, _ in
      try context.runCounting(
        """
        UPDATE node SET wish = \(instruction?.rawValue ?? "") WHERE name = \(node.text) AND \(part: Presence.isHeard)
        """) == 1
    }
  }

  /// Takes or keeps a duty for a time: by the database's clock, whatever time it is here.
  ///
  /// Whoever has it forgets what nobody reads any more of what nodes tell each other.
  public func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at _: Instant)
    async throws(StoreError) -> Bool
  {
    try await write { context, _ in
      let milliseconds = span.wholeMilliseconds
      let isOurs =
        try context.runCounting(
          """
          INSERT INTO lease (name, node, until)
          VALUES (\(duty.rawValue), \(node.text), now() + CAST(\(milliseconds) AS BIGINT) * INTERVAL '1 millisecond')
          ON CONFLICT (name) DO UPDATE SET node = EXCLUDED.node, until = EXCLUDED.until
          WHERE lease.node = EXCLUDED.node OR lease.until <= now() OR \(part: Moments.isComing("lease.until"))
          """) == 1
      if isOurs { try Self.trim(context) }
      return isOurs
    }
  }

  /// A quarter of an hour is remembered: longer than a nonce counts that was signed five minutes ahead.
  ///
  /// Whoever slept longer looks at everything.
  private static func trim(_ context: borrowing WriteContext) throws {
    for (table, most) in [("change", mostChanges), ("nonce", mostNonces)] {
      try context.run(
        """
        DELETE FROM \(unsafeRawSQL: table) WHERE n IN (
          SELECT n FROM (SELECT n, at FROM \(unsafeRawSQL: table) ORDER BY n LIMIT \(trimmedAtOnce)) AS oldest
          WHERE at < now() - INTERVAL '15 minutes' OR \(part: Moments.isComing("at"))
          OR n <= (SELECT max(n) FROM \(unsafeRawSQL: table)) - CAST(\(most) AS BIGINT))
        """)
    }
    try context.run(
      "DELETE FROM node WHERE NOT (\(part: Presence.isRemembered)) OR \(part: Moments.isComing("seen"))")
  }
}

/// Rows that one step of the upkeep deletes, every few seconds.
private let trimmedAtOnce = 20_000
/// Rows of the log, each for one transaction, and of nonces, each for what one node used in two milliseconds.
private let mostChanges = 1_000_000
private let mostNonces = 1_000_000
