import CPostgreSQL
import Glibc
import RegentPlatform

extension Connection {
  /// Connects to the first server of the settings that is writable.
  ///
  /// `accept` can check the connection, and throws when the next server is to be tried.
  ///
  /// - Throws: why no server could be used. The error never contains the password.
  public static func open(
    _ settings: ConnectionSettings, by deadline: Deadline,
    accept: (Connection) throws(PostgreSQLError) -> Void = { _ in }
  ) throws(PostgreSQLError) -> Connection {
    let library = try ClientLibrary()
    let user: String
    if let given = settings.user { user = given } else { user = try ownName() }
    var failures: [(host: ConnectionSettings.Host, error: PostgreSQLError)] = []
    for host in settings.hosts {
      let patience = Deadline.earlier(deadline, .after(settings.hostPatience))
      do throws(PostgreSQLError) {
        let connection = try open(host, settings, user: user, library, by: patience)
        try accept(connection)
        return connection
      } catch {
        if error.kind == .settings { throw error }
        failures.append((host, error))
      }
    }
    throw summary(of: failures)
  }

  private static func ownName() throws(PostgreSQLError) -> String {
    guard let name = (try? Accounts.user(id: Accounts.effectiveUser))??.name else {
      throw PostgreSQLError(.settings, "the database URL names no user", hint: "write postgresql://USER@HOST/DATABASE")
    }
    return name
  }

  /// Combines the errors of several servers.
  ///
  /// Kind and hint are those of the error that helps the operator most.
  private static func summary(
    of failures: [(host: ConnectionSettings.Host, error: PostgreSQLError)]
  ) -> PostgreSQLError {
    let worst = mostTelling(failures.map(\.error))
    guard failures.count > 1 else { return worst }
    // Most error messages name their server already.
    let all = failures.map { host, error in
      error.message.contains(host.name) ? error.message : "\(host): \(error.message)"
    }.joined(separator: "; ")
    return PostgreSQLError(worst.kind, all, hint: worst.hint)
  }

  /// Of the errors of several servers, the one that helps the operator most.
  ///
  /// An error that one server reported says more than the failure to reach another server.
  private static func mostTelling(_ errors: [PostgreSQLError]) -> PostgreSQLError {
    let order: [PostgreSQLError.Kind] = [.untrusted, .refused, .readOnly, .unreachable]
    let worst = order.lazy.compactMap { kind in errors.first { $0.kind == kind } }.first ?? errors.first
    return worst ?? PostgreSQLError(.settings, "the database URL names no host")
  }

  private static func open(
    _ host: ConnectionSettings.Host, _ settings: ConnectionSettings, user: String, _ library: ClientLibrary,
    by deadline: Deadline
  ) throws(PostgreSQLError) -> Connection {
    let password = try settings.password.password(for: host, database: settings.database, user: user)
    var failures: [PostgreSQLError] = []
    for address in try addresses(of: host, by: deadline) {
      do throws(PostgreSQLError) {
        let parameters = settings.parameters(host, address: address, user: user, password)
        let connection = try Attempt(host, library, parameters).finish(by: deadline)
        try connection.requireWritable()
        try connection.requireOwnProcess(by: deadline) { () throws(PostgreSQLError) in
          try Attempt(host, library, parameters).finish(by: deadline)
        }
        try connection.set(settings.session, by: deadline)
        return connection
      } catch {
        failures.append(error)
      }
    }
    throw mostTelling(failures)
  }

  private func requireWritable() throws(PostgreSQLError) {
    guard serverVersion >= 150_000 else {
      throw PostgreSQLError(
        .refused, "\(host) runs PostgreSQL \(serverVersion / 10_000), and 15 or newer is needed",
        hint: "upgrade the server")
    }
    // Every server from version 14 on reports these two parameters without being asked.
    guard parameter("in_hot_standby") != "on", parameter("default_transaction_read_only") != "on" else {
      throw PostgreSQLError(
        .readOnly, "\(host) takes no changes: it is a standby, or was set read-only",
        hint: "name the primary in the URL too, or promote this server")
    }
  }

  private func set(_ session: [String: String], by deadline: Deadline) throws(PostgreSQLError) {
    var all = [
      // Makes the server end a statement whose client has disconnected.
      "client_connection_check_interval": "2s",
      "default_transaction_isolation": "read committed",
      // There are few statements and they run often, so planning each once is enough.
      "plan_cache_mode": "force_generic_plan",
    ]
    all.merge(session) { _, given in given }
    let calls = all.sorted { $0.key < $1.key }.map { "set_config(\(literal($0.key)), \(literal($0.value)), false)" }
    _ = try exchange([.plain("SELECT \(calls.joined(separator: ", "))")], by: deadline)
  }

  /// Refuses a connection through a pooler that uses another server connection for each transaction.
  ///
  /// With such a pooler, the name of a prepared statement may refer to another client's statement. This check detects
  /// it before any statement runs under a wrong name.
  ///
  /// `connect` makes another connection. A pooler in session mode gives the other connection a server process of its
  /// own.
  private func requireOwnProcess(
    by deadline: Deadline, _ connect: () throws(PostgreSQLError) -> Connection
  ) throws(PostgreSQLError) {
    let process = try process(by: deadline)
    // The server process that answers is the one that was announced, so no pooler is in between. A pooler announces a
    // process id of its own.
    if process == Int64(backend) { return }
    let other = try connect()
    defer { other.close() }
    for _ in 1...3 {
      guard try other.process(by: deadline) != process, try self.process(by: deadline) == process else {
        throw PostgreSQLError(
          .refused, "\(host) is a pooler that gives each transaction another connection",
          hint: poolerHint)
      }
    }
  }

  /// The process id of the server process that answers this connection now.
  private func process(by deadline: Deadline) throws(PostgreSQLError) -> Int64 {
    let asked = "SELECT pg_backend_pid()"
    let answers = try exchange([.plain(asked)], by: deadline).map { Rows(result: $0, sql: asked) }
    guard let row = answers.first?.first else { throw PostgreSQLError(.lost, "the server did not name its process") }
    return try row.integer(0)
  }
}

/// A text of this program as an SQL literal.
///
/// The server does not interpret backslashes.
func literal(_ text: String) -> String {
  // Compare bytes: Swift treats `'` plus a combining mark as another character, PostgreSQL does not.
  "'" + String(decoding: text.utf8.flatMap { $0 == 0x27 ? [$0, $0] : [$0] }, as: UTF8.self) + "'"
}

extension ConnectionSettings {
  /// The connection parameters for libpq.
  ///
  /// Every security setting is given explicitly, so that no environment variable can change it.
  func parameters(
    _ host: Host, address: String, user: String, _ password: Password?
  ) -> [(name: String, value: [UInt8])] {
    let mode = tlsMode(for: host)
    var all: [(String, String)] = [
      ("host", host.name), ("hostaddr", address), ("port", String(host.port)), ("dbname", database), ("user", user),
      ("sslmode", mode), ("gssencmode", "disable"), ("ssl_min_protocol_version", "TLSv1.2"),
      ("client_encoding", "UTF8"), ("application_name", applicationName), ("target_session_attrs", "any"),
      // Keep-alive probes detect a server that has disappeared without closing the connection.
      ("keepalives", "1"), ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "10000"),
      // Keeps libpq from searching a password file, for which it would print warnings. A path below a device cannot
      // exist.
      ("passfile", "/dev/null/none"),
    ]
    if mode.hasPrefix("verify") { all.append(("sslrootcert", authorities)) }
    return all.filter { !$0.1.isEmpty }.map { ($0.0, Array($0.1.utf8)) }
      + (password.map { [("password", $0.bytes)] } ?? [])
  }
}

extension ConnectionSettings.Host: CustomStringConvertible {
  /// The host and port as messages show them.
  public var description: String {
    if isSocket { return "\(name)/.s.PGSQL.\(port)" }
    return name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
  }
}
