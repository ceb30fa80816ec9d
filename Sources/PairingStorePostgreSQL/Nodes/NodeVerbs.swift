public import PairingStore
public import RegentPairing
import RegentPlatform
import RegentSQL

extension PostgreSQLStore {
  /// Whether other processes write to the store; always true, because other nodes may start at any time.
  public var isShared: Bool { true }

  /// The present end of the change log.
  ///
  /// The part for nonces is zero, so that a starting node reads all nonces that are still relevant.
  public func endOfChanges() async throws(StoreError) -> ChangePosition {
    try await read { context, _ in
      var position = ChangePosition()
      position.change = try context.value("SELECT changes FROM cluster WHERE id = 1") ?? 0
      position.nonce = 0
      return position
    }
  }

  /// Reads the changes of other nodes, and those changes of this store whose callers were not told the outcome.
  public func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    do {
      return try await database.changes(after: position, waiting: span)
    } catch {
      throw StoreError(of: error)
    }
  }

  public func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    share(nonces, [], told)
  }

  public func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    share([], guesses, told)
  }

  private func share(
    _ nonces: [UsedNonce], _ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    guard !nonces.isEmpty || !guesses.isEmpty else { return told(.success(())) }
    database.announcer.share(
      PendingBroadcasts(nonces: nonces, guesses: guesses) { told($0.mapError(StoreError.init(of:))) })
  }

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

  /// Stores the text in which the next heartbeat reports this node's state.
  public func report(_ said: String) async throws(StoreError) -> ClusterStatus { database.announcer.report(said) }

  /// Stores an operator's instruction for a node, which the node receives with its next heartbeat.
  public func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool {
    try await write { context, _ in
      try context.runCounting(
        """
        UPDATE node SET wish = \(instruction?.rawValue ?? "") WHERE name = \(node.text) AND \(part: Presence.isHeard)
        """) == 1
    }
  }

  /// Assigns a duty (a task that one node performs for the cluster) to a node for a time, or extends it, by the
  /// database's clock.
  ///
  /// The node that has the duty also deletes shared entries that nodes no longer need.
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

  /// Deletes changes, nonces and guesses that were shared with other nodes more than 15 minutes ago.
  ///
  /// A nonce matters for at most ten minutes, because a request is accepted up to five minutes before and after its
  /// signing time. A node that paused for longer than 15 minutes reloads everything.
  ///
  /// The newest number comes from the counter, not from the rows. A forged row with a number above it would otherwise
  /// make all other rows count as old, and one with the lowest number would make the subtraction overflow.
  private static func trim(_ context: borrowing WriteContext) throws {
    let logs: [(table: String, newest: SQL, most: Int)] = [
      ("change", "SELECT changes FROM cluster WHERE id = 1", mostChanges),
      ("nonce", "SELECT n FROM nonce_count WHERE id = 1 AND \(part: NonceNumbers.isCredible("n"))", mostNonces),
    ]
    for (table, newest, most) in logs {
      try context.run(
        """
        DELETE FROM \(unsafeRawSQL: table) WHERE n IN (
          SELECT n FROM (SELECT n, at FROM \(unsafeRawSQL: table) ORDER BY n LIMIT \(trimmedAtOnce)) AS oldest
          WHERE at < now() - INTERVAL '15 minutes' OR \(part: Moments.isComing("at"))
          OR n <= (\(part: newest)) - CAST(\(most) AS BIGINT))
        """)
      try context.run(
        """
        DELETE FROM \(unsafeRawSQL: table) WHERE n IN (
          SELECT n FROM \(unsafeRawSQL: table) WHERE n > (\(part: newest)) LIMIT \(trimmedAtOnce))
        """)
    }
    try context.run(
      "DELETE FROM node WHERE NOT (\(part: Presence.isRemembered)) OR \(part: Moments.isComing("seen"))")
  }
}

/// The maximum number of rows that one step of the clean-up deletes.
///
/// A step runs every few seconds.
private let trimmedAtOnce = 20_000
/// The maximum number of rows that are kept in the change log and in the table of nonces.
///
/// A row of the change log is for one transaction. A row of nonces is for what one node used in two milliseconds.
private let mostChanges = 1_000_000
private let mostNonces = 1_000_000
