import PostgreSQL
import RegentPlatform

/// A thread's way to the database: opened when it is wanted, opened anew when it broke.
///
/// Lives on its thread.
final class DatabaseLink {
  private let settings: ConnectionSettings
  private let patience: Duration
  private let health: Health
  private let occupies: Bool
  private var connection: Connection?
  /// The history of the database that its server has.
  private(set) var timeline: Int64 = 0
  /// Until then nobody tries again: a database that is away is not asked by every request.
  private var rest: UInt64 = 0
  private var lastError: PostgreSQLError?

  private static let pause: UInt64 = 250_000_000

  /// `session` is what it sets beside the rest; `occupies` says to copies of the whole database that a service is
  /// there.
  init(
    _ options: PostgreSQLStoreOptions, _ health: Health, session: [String: String] = [:], occupies: Bool = false
  ) {
    var settings = options.connection
    // A service that was frozen within a transaction must not hold the cluster's row for ever.
    settings.session["idle_in_transaction_session_timeout"] = "10s"
    settings.session.merge(session) { _, own in own }
    self.settings = settings
    patience = options.statementPatience
    self.health = health
    self.occupies = occupies
  }

  /// The moment by which the next thing must be over.
  var deadline: Deadline { .after(patience) }

  /// An open connection.
  ///
  /// - Throws: why there is none.
  func opened() throws(PostgreSQLError) -> Connection {
    if let connection, connection.isOpen {
      if timeline >= health.timelines.newest { return connection }
      connection.close()
    }
    connection = nil
    if let lastError, Clocks.monotonicNanoseconds() < rest { throw lastError }
    do throws(PostgreSQLError) {
      let made = try Connection.open(settings, by: deadline) { connection throws(PostgreSQLError) in
        timeline = try health.timelines.check(connection, by: deadline)
      }
      if occupies { try DatabaseUseLock.share(made, by: deadline) }
      connection = made
      lastError = nil
      health.noteAnswer()
      return made
    } catch {
      lastError = error
      rest = Clocks.monotonicNanoseconds() + Self.pause
      health.noteSilence()
      throw error
    }
  }

  /// Runs statements that may be run twice: a connection that nobody used for a while may be found broken.
  @discardableResult
  func run(_ batch: [SQL]) throws(PostgreSQLError) -> [Rows] {
    let results: [Rows]
    do throws(PostgreSQLError) {
      results = try opened().run(batch, by: deadline)
    } catch {
      guard !isOpen, error.kind != .deadline else {
        note(error)
        throw error
      }
      results = try opened().run(batch, by: deadline)
    }
    note(nil)
    return results
  }

  /// Says what came of the last exchange, for who asks whether the database answers: what a server says of a statement
  /// is an answer, and that none could be asked is none.
  func note(_ error: PostgreSQLError?) {
    if error?.state == .diskFull { health.noteFull() }
    if error?.isAnswer ?? true { health.noteAnswer() } else { health.noteSilence() }
  }

  /// Waits before the next try of what must succeed in the end.
  func pause() {
    let now = Clocks.monotonicNanoseconds()
    Monitor(false).rest(until: now + Self.pause)
  }

  /// Whether the last connection can still be used.
  var isOpen: Bool { connection?.isOpen ?? false }

  /// Whether the last connection was closed because too many bells were rung.
  var isFlooded: Bool { connection?.isFlooded ?? false }

  func close() { connection?.close() }
}

extension PostgreSQLError {
  /// Whether a server that takes changes said it, and goes on.
  fileprivate var isAnswer: Bool {
    switch kind {
    case .server(let state): !state.endsConnection
    case .value, .misuse: true
    case .libraryMissing, .settings, .unreachable, .refused, .untrusted, .readOnly, .deadline, .lost: false
    }
  }
}
