import PostgreSQL
import RegentPlatform

/// One thread's connection to the database.
///
/// It is opened when needed, and again when it breaks. Only that thread uses it.
final class DatabaseLink {
  private let settings: ConnectionSettings
  private let patience: Duration
  private let health: Health
  private let occupies: Bool
  private var connection: Connection?
  /// The timeline of the connected server (see ``Timelines``).
  private(set) var timeline: Int64 = 0
  /// The time before which no new attempt to connect is made, so that an unreachable database is not tried for every
  /// request.
  private var rest: UInt64 = 0
  private var lastError: PostgreSQLError?

  private static let pause: UInt64 = 250_000_000

  /// Prepares a connection without opening it.
  ///
  /// `session` holds additional session settings. `occupies` makes it take the lock that shows copies that a service
  /// uses the database.
  init(
    _ options: PostgreSQLStoreOptions, _ health: Health, session: [String: String] = [:], occupies: Bool = false
  ) {
    var settings = options.connection
    // A service may be frozen during a transaction. It must not hold the lock of the cluster's row forever.
    settings.session["idle_in_transaction_session_timeout"] = "10s"
    settings.session.merge(session) { _, own in own }
    self.settings = settings
    patience = options.statementPatience
    self.health = health
    self.occupies = occupies
  }

  /// The deadline for a statement that is sent now.
  var deadline: Deadline { .after(patience) }

  /// Returns the open connection, or opens one.
  ///
  /// - Throws: why none could be opened.
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

  /// Runs statements that may be repeated.
  ///
  /// If an idle connection turns out to be broken, they run again on a new one.
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

  /// Records whether the database answered the last exchange.
  ///
  /// An error that the server reports counts as an answer. A failure to reach the server does not.
  func note(_ error: PostgreSQLError?) {
    if error?.state == .diskFull { health.noteFull() }
    if error?.isAnswer ?? true { health.noteAnswer() } else { health.noteSilence() }
  }

  /// Waits before an operation that must succeed in the end is tried again.
  func pause() {
    let now = Clocks.monotonicNanoseconds()
    Monitor(false).rest(until: now + Self.pause)
  }

  /// Whether the last connection is still open.
  var isOpen: Bool { connection?.isOpen ?? false }

  /// Whether the last connection was closed because it received too many notifications.
  var isFlooded: Bool { connection?.isFlooded ?? false }

  func close() { connection?.close() }
}

extension PostgreSQLError {
  /// Whether the error was reported by a writable server that goes on working.
  fileprivate var isAnswer: Bool {
    switch kind {
    case .server(let state): !state.endsConnection
    case .value, .misuse: true
    case .libraryMissing, .settings, .unreachable, .refused, .untrusted, .readOnly, .deadline, .lost: false
    }
  }
}
