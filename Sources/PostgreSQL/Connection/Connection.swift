import CPostgreSQL
import Glibc

/// A connection to a writable server.
///
/// Only one thread at a time may use it.
///
/// Every call has a deadline. A call that gets no answer by then closes the connection, because it is unknown what the
/// server did. The connection never asks the server to cancel a statement. The caller finds out over a new connection
/// what the server did.
@safe public final class Connection {
  let library: ClientLibrary
  private var handle: OpaquePointer?
  private let notices: NoticeLog
  private let bells = Bells()
  private var statements: [String: PreparedStatement] = [:]
  private var statementsMade = 0

  /// The server that accepted the login.
  public let host: ConnectionSettings.Host

  /// The most prepared statements of a connection.
  ///
  /// With one more, the connection drops all of them and prepares them again when they are used.
  static let mostStatements = 512

  init(owning handle: OpaquePointer, _ library: ClientLibrary, _ notices: NoticeLog, _ host: ConnectionSettings.Host) {
    unsafe self.handle = unsafe handle
    self.library = library
    self.notices = notices
    self.host = host
  }

  deinit { close() }

  /// Whether the connection can still be used.
  public var isOpen: Bool { unsafe handle != nil }

  /// Whether the connection was closed because too many notifications arrived.
  public var isFlooded: Bool { bells.isFlood }

  /// Closes the connection.
  ///
  /// The server rolls an open transaction back.
  public func close() {
    guard let handle = unsafe handle else { return }
    unsafe self.handle = nil
    statements.removeAll()
    // This does not block: the socket is non-blocking, so libpq sends only what fits into its buffer.
    unsafe library.finish(handle)
  }

  /// Whether a transaction is open, including one that has failed.
  public var isInTransaction: Bool {
    guard let handle = unsafe handle else { return false }
    return unsafe library.transactionStatus(handle) != PQTRANS_IDLE
  }

  /// Whether the connection is encrypted.
  public var usesTLS: Bool { unsafe handle.map { unsafe library.usesTLS($0) == 1 } ?? false }

  /// The process id of the server process that serves this connection.
  public var backend: Int32 { unsafe handle.map { unsafe library.backend($0) } ?? 0 }

  /// The server's version, for example 150018 for 15.18.
  public var serverVersion: Int { unsafe handle.map { Int(unsafe library.serverVersion($0)) } ?? 0 }

  /// A parameter that the server reports without being asked, for example `in_hot_standby`.
  func parameter(_ name: String) -> String? {
    guard let handle = unsafe handle else { return nil }
    return unsafe library.parameterStatus(handle, name).map { unsafe String(cString: $0) }
  }

  var preparedCount: Int { statements.count }
}

// MARK: - Statements

extension Connection {
  /// Runs one statement.
  ///
  /// - Throws: `PostgreSQLError`; the connection is closed after `.deadline` and `.lost`.
  @discardableResult
  public func run(_ sql: SQL, by deadline: Deadline) throws(PostgreSQLError) -> Rows {
    try run([sql], by: deadline)[0]
  }

  /// Runs statements in one round trip, in their order, up to the first that fails.
  ///
  /// Outside a transaction they form one transaction: all of them take effect or none.
  ///
  /// - Returns: the rows of each statement.
  /// - Throws: the error of the statement that failed, with its text.
  public func run(_ batch: [SQL], by deadline: Deadline) throws(PostgreSQLError) -> [Rows] {
    let commands = try prepare(batch, by: deadline)
    do throws(PostgreSQLError) {
      let results = try exchange(commands, by: deadline)
      return zip(results, batch).map { Rows(result: $0, sql: $1.text) }
    } catch {
      if let text = error.sql, error.state?.forgetsStatement == true { statements[text] = nil }
      throw error
    }
  }

  public func begin(by deadline: Deadline) throws(PostgreSQLError) {
    _ = try exchange([.plain("BEGIN")], by: deadline)
  }

  /// Rolls the open transaction back.
  ///
  /// Does nothing when none is open.
  public func rollback(by deadline: Deadline) throws(PostgreSQLError) {
    guard isInTransaction else { return }
    _ = try exchange([.plain("ROLLBACK")], by: deadline)
  }

  /// Runs the last statements of a transaction and its COMMIT in one round trip.
  ///
  /// If a statement fails, the transaction is rolled back.
  ///
  /// - Returns: the outcome. After `.unknown` the connection is closed.
  public func commit(after batch: [SQL] = [], by deadline: Deadline) -> CommitOutcome {
    let commands: [Command]
    do throws(PostgreSQLError) {
      guard isInTransaction else {
        throw PostgreSQLError(isOpen ? .misuse : .lost, "there is no transaction to commit")
      }
      commands = try prepare(batch, by: deadline) + [.plain("COMMIT")]
    } catch {
      // The COMMIT was not sent, so the transaction has certainly not been committed.
      undo(by: deadline)
      return .notCommitted(error)
    }
    do throws(PostgreSQLError) {
      let results = try exchange(commands, by: deadline)
      // The server answers the COMMIT of a failed transaction with ROLLBACK.
      guard results.last?.command == "COMMIT" else {
        return .notCommitted(PostgreSQLError(.server(.transactionFailed), "the transaction had failed before"))
      }
      guard let warning = notices.warnings.first else { return .committed }
      close()
      return .unknown(
        PostgreSQLError(.server(warning), "the change was made, and the standby may not have it", sql: "COMMIT"))
    } catch {
      // The connection still works, so the error is one of the transaction, which was not committed.
      guard isOpen else { return .unknown(error) }
      undo(by: deadline)
      return .notCommitted(error)
    }
  }

  /// Rolls the transaction back.
  ///
  /// If that fails, closes the connection, so that the server rolls the transaction back.
  public func undo(by deadline: Deadline) {
    do throws(PostgreSQLError) { try rollback(by: deadline) } catch { close() }
  }
}

// MARK: - Notifications

/// A notification from another client of the database (NOTIFY).
public struct Notification: Hashable, Sendable {
  public let channel: String
  public let payload: String
  /// The process id of the server process that serves the client which sent the notification.
  public let backend: Int32
}

extension Connection {
  /// Subscribes to the notifications of a channel.
  public func listen(to channel: StaticString, by deadline: Deadline) throws(PostgreSQLError) {
    _ = try exchange([.plain("LISTEN \"\(channel)\"")], by: deadline)
  }

  /// Waits for notifications and returns all that have arrived.
  ///
  /// - Returns: an empty array when none has arrived by the deadline. The connection stays open.
  /// - Throws: `.lost`; ``isFlooded`` tells whether too many notifications were the reason.
  public func notifications(by deadline: Deadline) throws(PostgreSQLError) -> [Notification] {
    var found = try heard()
    while found.isEmpty {
      let handle = try unsafe opened()
      guard deadline.wait(for: POLLIN, on: unsafe library.socket(handle)) != 0 else { return [] }
      guard unsafe library.consumeInput(handle) == 1 else {
        close()
        throw PostgreSQLError(.lost, "the connection that hears the bells broke")
      }
      found = try heard()
    }
    return found
  }

  private func heard() throws(PostgreSQLError) -> [Notification] {
    let handle = try unsafe opened()
    do throws(PostgreSQLError) {
      try unsafe bells.take(from: handle, library)
    } catch {
      close()
      throw error
    }
    return bells.takeAll()
  }
}

// MARK: - Commands

/// A statement that the server has prepared, with the types of its parameters.
struct PreparedStatement {
  let name: String
  var types: [UInt32] = []
}

/// One message of this connection to the server.
enum Command {
  case plain(String)
  case prepare(PreparedStatement, SQL)
  case describe(PreparedStatement)
  case run(PreparedStatement, SQL, Parameters)

  /// The SQL text of the command's statement, before its parameters are numbered.
  var text: String? {
    switch self {
    case .plain(let text): text
    case .prepare(_, let sql), .run(_, let sql, _): sql.text
    case .describe: nil
    }
  }
}

extension Connection {
  /// The libpq handle.
  ///
  /// Throws if the connection is closed.
  private func opened() throws(PostgreSQLError) -> OpaquePointer {
    guard let handle = unsafe handle else { throw PostgreSQLError(.lost, "the connection to the database is closed") }
    return unsafe handle
  }

  /// Prepares the statements of the batch that the server does not know yet, and encodes their values.
  private func prepare(_ batch: [SQL], by deadline: Deadline) throws(PostgreSQLError) -> [Command] {
    var unknown: [(statement: PreparedStatement, sql: SQL)] = []
    for sql in batch where statements[sql.text] == nil && !unknown.contains(where: { $0.sql.text == sql.text }) {
      statementsMade += 1
      unknown.append((PreparedStatement(name: "s\(statementsMade)"), sql))
    }
    if !unknown.isEmpty {
      if statements.count + unknown.count > Self.mostStatements {
        statements.removeAll()
        _ = try exchange([.plain("DEALLOCATE ALL")], by: deadline)
        return try prepare(batch, by: deadline)
      }
      let results = try exchange(
        unknown.flatMap { [.prepare($0.statement, $0.sql), .describe($0.statement)] }, by: deadline)
      for (place, made) in unknown.enumerated() {
        var statement = made.statement
        statement.types = results[2 * place + 1].parameterTypes
        statements[made.sql.text] = statement
      }
    }
    var commands: [Command] = []
    for sql in batch {
      guard let statement = statements[sql.text] else { throw PostgreSQLError(.misuse, "a statement was forgotten") }
      commands.append(.run(statement, sql, try Parameters(sql, as: statement.types)))
    }
    return commands
  }

  /// Sends commands in one round trip and reads all their answers.
  ///
  /// - Throws: the first error. The connection is closed if it cannot be used any more.
  func exchange(_ commands: [Command], by deadline: Deadline) throws(PostgreSQLError) -> [ResultHandle] {
    let handle = try unsafe opened()
    notices.clear()
    do throws(PostgreSQLError) {
      let wire = unsafe Wire(handle, library, bells, deadline)
      let results = try wire.exchange(commands)
      var failure: PostgreSQLError?
      for (result, command) in zip(results, commands) where failure == nil { failure = result.error(command.text) }
      if let failure { throw failure }
      return results
    } catch {
      let isLost = unsafe library.status(handle) != CONNECTION_OK
      if isLost || error.kind == .deadline || error.kind == .lost || error.state?.endsConnection == true { close() }
      throw error
    }
  }
}
