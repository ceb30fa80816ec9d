import PostgreSQL
import RegentPlatform

/// How a copy reaches a server, and keeps services from it.
enum CopyConnection {
  /// How long one question may take: the first of a table may have to sort it.
  static let patience = Duration.seconds(60)
  /// How long a service that has just ended may seem to be there: its server notices by and by.
  private static let linger = Duration.seconds(2)

  /// Connects; `isAlone` is refused while a service uses the database, and keeps every other one out until the end.
  static func open(_ server: ConnectionSettings, isAlone: Bool) throws -> Connection {
    var settings = server
    settings.applicationName = "regent copy"
    // A disk that is slow to take the copy must not end it.
    settings.session["idle_in_transaction_session_timeout"] = "0"
    let end = Clocks.bootNanoseconds() + linger.wholeNanoseconds
    while true {
      let connection = try Connection.open(settings, by: .after(patience))
      guard isAlone else { return connection }
      do {
        try DatabaseUseLock.takeAlone(connection, by: .after(patience))
        return connection
      } catch {
        guard error.kind == .refused, Clocks.bootNanoseconds() < end else { throw error }
        pause()
      }
    }
  }

  /// Ends a connection at once for everybody: whoever comes next is not told that somebody is there.
  static func close(_ connection: Connection) {
    guard connection.isOpen else { return }
    let deadline = Deadline.after(linger)
    connection.undo(by: deadline)
    _ = try? connection.run("SELECT pg_advisory_unlock_all()", by: deadline)
    connection.close()
  }

  /// Waits a moment before the next try.
  static func pause() {
    Monitor(false).rest(until: Clocks.monotonicNanoseconds() + 100_000_000)
  }
}
