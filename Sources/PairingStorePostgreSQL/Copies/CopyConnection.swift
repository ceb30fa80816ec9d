import PostgreSQL
import RegentPlatform

/// Connects to a server to copy a whole database, and can keep services from it meanwhile.
enum CopyConnection {
  /// The longest time for one query of a copy.
  ///
  /// The first query of a table may have to sort the whole table.
  static let patience = Duration.seconds(60)
  /// How long the lock of a service that has just ended may still be held.
  ///
  /// The PostgreSQL server notices the end late.
  private static let linger = Duration.seconds(2)

  /// Connects to a server for copying.
  ///
  /// With `isAlone` it throws while a service uses the database, and keeps services out until the connection is closed.
  static func open(_ server: ConnectionSettings, isAlone: Bool) throws -> Connection {
    var settings = server
    settings.applicationName = "regent copy"
    // Writing the copy to a slow disk may take long. The server must not end the idle transaction meanwhile.
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

  /// Releases the locks before it closes the connection, so that the next connection does not find the database in use.
  static func close(_ connection: Connection) {
    guard connection.isOpen else { return }
    let deadline = Deadline.after(linger)
    connection.undo(by: deadline)
    _ = try? connection.run("SELECT pg_advisory_unlock_all()", by: deadline)
    connection.close()
  }

  static func pause() {
    Monitor(false).rest(until: Clocks.monotonicNanoseconds() + 100_000_000)
  }
}
