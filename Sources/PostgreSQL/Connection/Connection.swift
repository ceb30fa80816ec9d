import CPostgreSQL
import Glibc

/// One connection to a server that takes changes; used by one thread at a time.
///
/// Every call ends by its deadline. One that does not get its answer by then closes the connection, because nobody
/// knows what the server did: it is never asked to cancel. A new connection finds out.
@safe public final class Connection {
  let library: ClientLibrary
  private var handle: OpaquePointer?
  private let notices: NoticeLog
  private let bells = Bells()
  private var statements: [String: PreparedStatement] = [:]
  private var statementsMade = 0

  /// The server that let us in.
  public let host: ConnectionSettings.Host

  /// Statements of one connection; every further text makes all of them be prepared anew.
  static let mostStatements = 512

  init(owning handle: OpaquePointer, _ library: ClientLibrary, _ notices: NoticeLog, _ host: ConnectionSettings.Host) {
    unsafe self.handle = unsafe handle
    self.library = library
    self.notices = notices
    self.host = host
  }

  deinit { close() }

  /// Whether it can still be used.
  public var isOpen: Bool { unsafe handle != nil }

  /// Whether it was closed because more bells were rung than anybody hears.
  public var isFlooded: Bool { bells.isFlood }

  /// Ends the connection; a transaction that is open is undone by the server.
  public func close() {
    guard let handle = unsafe handle else { return }
    unsafe self.handle = nil
    statements.removeAll()
    // Only what fits the socket's buffer is sent: the connection is not blocking.
    unsafe library.finish(handle)
  }

  /// Whether a transaction is open, also one that has failed.
  public var isInTransaction: Bool {
    guard let handle = unsafe handle else { return false }
    return unsafe library.transactionStatus(handle) != PQTRANS_IDLE
  }

  /// Whether what is sent is encrypted.
  public var usesTLS: Bool { unsafe handle.map { unsafe library.usesTLS($0) == 1 } ?? false }

  /// The process of the server that works for this connection.
  public var backend: Int32 { unsafe handle.map { unsafe library.backend($0) } ?? 0 }

  /// The server's version, 150018 for 15.18.
  public var serverVersion: Int { unsafe handle.map { Int(unsafe library.serverVersion($0)) } ?? 0 }

  /// What the server says of itself without being asked.
  func parameter(_ name: String) -> String? {
    guard let handle = unsafe handle else { return nil }
    return unsafe library.parameterStatus(handle, name).map { unsafe String(cString: $0) }
  }

  /// How many texts are prepared.
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
  /// Outside of a transaction they are one: all of them or none.
  ///
  /// - Returns: the rows of each.
  /// - Throws: the error of the first that failed, with its statement.
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

  /// Begins a transaction.
  public func begin(by deadline: Deadline) throws(PostgreSQLError) {
    _ = try exchange([.plain("BEGIN")], by: deadline)
  }

  /// Undoes the transaction; nothing when none is open.
  public func rollback(by deadline: Deadline) throws(PostgreSQLError) {
    guard isInTransaction else { return }
    _ = try exchange([.plain("ROLLBACK")], by: deadline)
  }

  /// Runs the last statements of a transaction and its COMMIT in one round trip.
  ///
  /// When one of them fails the transaction is undone.
  ///
  /// - Returns: what it came to. `.unknown` closes the connection.
  public func commit(after batch: [SQL] = [], by deadline: Deadline) -> CommitOutcome {
    let commands: [Command]
    do throws(PostgreSQLError) {
      guard isInTransaction else {
        throw PostgreSQLError(isOpen ? .misuse : .lost, "there is no transaction to commit")
      }
      commands = try prepare(batch, by: deadline) + [.plain("COMMIT")]
    } catch {
      // Nothing of the COMMIT was sent.
      undo(by: deadline)
      return .notCommitted(error)
    }
    do throws(PostgreSQLError) {
      let results = try exchange(commands, by: deadline)
      // The server answers the COMMIT of a transaction that has failed with ROLLBACK.
      guard results.last?.command == "COMMIT" else {
        return .notCommitted(PostgreSQLError(.server(.transactionFailed), "the transaction had failed before"))
      }
      guard let warning = notices.warnings.first else { return .committed }
      close()
      return .unknown(
        PostgreSQLError(.server(warning), "the change was made, and the standby may not have it", sql: "COMMIT"))
    } catch {
      // An error of a connection that lives is one of the transaction: it did not happen.
      guard isOpen else { return .unknown(error) }
      undo(by: deadline)
      return .notCommitted(error)
    }
  }

  /// Undoes the transaction; a connection that cannot is closed, which undoes it as well.
  public func undo(by deadline: Deadline) {
    do throws(PostgreSQLError) { try rollback(by: deadline) } catch { close() }
  }
}

// MARK: - Bells

/// A bell that somebody rang.
public struct Notification: Hashable, Sendable {
  public let channel: String
  public let payload: String
  /// The server's process that works for who rang it.
  public let backend: Int32
}

extension Connection {
  /// Hears the bells of a channel from here on.
  public func listen(to channel: StaticString, by deadline: Deadline) throws(PostgreSQLError) {
    _ = try exchange([.plain("LISTEN \"\(channel)\"")], by: deadline)
  }

  /// Waits until a bell was rung, and gives all that were.
  ///
  /// - Returns: nothing when none was rung by the deadline, which closes nothing.
  /// - Throws: `.lost`, also when too many were rung: ``isFlooded`` tells.
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

// MARK: - What goes over the wire

/// A statement that the server has parsed, and the types it wants.
struct PreparedStatement {
  let name: String
  var types: [UInt32] = []
}

/// One thing to send.
enum Command {
  case plain(String)
  case prepare(PreparedStatement, SQL)
  case describe(PreparedStatement)
  case run(PreparedStatement, SQL, Parameters)

  /// The statement as its writer wrote it.
  var text: String? {
    switch self {
    case .plain(let text): text
    case .prepare(_, let sql), .run(_, let sql, _): sql.text
    case .describe: nil
    }
  }
}

extension Connection {
  /// The connection as libpq knows it.
  private func opened() throws(PostgreSQLError) -> OpaquePointer {
    guard let handle = unsafe handle else { throw PostgreSQLError(.lost, "the connection to the database is closed") }
    return unsafe handle
  }

  /// Has the server parse what it does not know yet, and puts the values into its form.
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

  /// Sends commands and reads all answers.
  ///
  /// - Throws: the first error; the connection is closed when it is of no use any more.
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
