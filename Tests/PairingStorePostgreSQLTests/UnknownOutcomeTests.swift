import Glibc
import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

private func requestor(_ text: String) throws -> Provision {
  .requestor(Requestor(id: try #require(RequestorID(text)), name: text))
}

extension PostgreSQLStore {
  fileprivate func add(_ text: String) async throws {
    _ = try await put(requestor(text), replacing: nil, audit: nil, at: Instant(milliseconds: 0))
  }

  fileprivate var requestors: [String] {
    get async throws { try await provisioning().requestors.keys.map(\.text).sorted() }
  }
}

extension Connection {
  /// Makes each COMMIT wait for a standby with this name; "" for none.
  ///
  /// The server reloads its settings a little later.
  fileprivate func requireStandby(_ name: String) throws {
    try run("ALTER SYSTEM SET synchronous_standby_names = \(unsafeRawSQL: "'\(name)'")", by: serverDeadline)
    try run("SELECT pg_reload_conf()", by: serverDeadline)
  }
}

/// Each test has a server of its own where it stops or freezes it, or makes it wait for a missing standby.
@Suite("COMMITs with an unknown outcome on PostgreSQL", .serialized)
struct UnknownOutcomeTests {
  private func impatient(_ place: DatabasePlace) throws -> PostgreSQLStoreOptions {
    var options = try place.options()
    (options.patience, options.statementPatience) = (.milliseconds(1_500), .milliseconds(700))
    options.connection.hostPatience = .milliseconds(700)
    return options
  }

  private func outcome(_ body: () async throws -> Void) async throws -> StoreError? {
    do { try await body() } catch let error as StoreError { return error }
    return nil
  }

  @Test
  func `a COMMIT that waits for a standby fails as unknown at the deadline and is settled when the standby is back`()
    async throws
  {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    let store = try PostgreSQLStore(impatient(place))
    defer { store.close() }
    try await store.add("BEFORE")
    let operating = try place.connect()
    try operating.requireStandby("away")
    // The server reloads its settings a little later, so the first writes may still succeed.
    let unknown = try await eventually("a COMMIT that waits") {
      try await outcome { try await store.add("WAITING\(UInt32.random(in: 0 ... .max))") }
    }
    guard case .unknownOutcome = unknown else { Issue.record("\(unknown)"); return }
    try await eventually("the store to say that it waits for the standby") { store.awaitsStandby ? true : nil }
    // Reads are answered, without what the standby may lack; new writes are refused in time.
    let others = try await store.requestors
    let refused = try await outcome { try await store.add("REFUSED") }
    guard case .unavailable(let why) = refused else { Issue.record("\(String(describing: refused))"); return }
    #expect(why == "changes wait for the standby")
    try operating.requireStandby("")
    try await eventually("the writer to go on") {
      try await outcome { try await store.add("AFTER") } == nil ? true : nil
    }
    try await eventually("the store to report that it waits no longer") { store.awaitsStandby ? nil : true }
    let found = try await store.requestors
    // The change with the unknown outcome was made once; the refused change was not made.
    #expect(found.count == others.count + 2 && found.contains("AFTER") && !found.contains("REFUSED"), "\(found)")
    #expect(try await store.auditProblems() == [])
  }

  @Test func `a trial write ends as soon as the store knows that COMMITs wait for a standby`() async throws {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    #expect(try await store.durationOfWrite() != nil)
    try place.connect().requireStandby("away")
    // The server reloads its settings a little later, so the first writes may still succeed.
    let began = Clocks.monotonicNanoseconds()
    try await eventually("a trial write that waits") { try await store.durationOfWrite() == nil ? true : nil }
    #expect(store.awaitsStandby)
    // The write itself fails after ten seconds.
    #expect(Clocks.monotonicNanoseconds() - began < 8_000_000_000)
    #expect(try await store.durationOfWrite() == nil)
    try place.connect().requireStandby("")
  }

  /// With a table that stays locked, the second connection cannot even prepare its statements, and is given up as
  /// well.
  @Test(arguments: [false, true])
  func `a change whose COMMIT never reached the server is made again, once`(staysLocked: Bool) async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    var options = try place.options()
    // Longer than the server takes to notice that its client is gone.
    options.statementPatience = .seconds(staysLocked ? 5 : 2)
    let store = try PostgreSQLStore(options)
    defer { store.close() }
    try await store.add("BEFORE")
    let (blocking, operating) = (try place.connect(), try place.connect())
    try blocking.begin(by: serverDeadline)
    try blocking.run("LOCK TABLE requestor IN EXCLUSIVE MODE", by: serverDeadline)
    let added = Task { try await store.add("LATE") }
    for _ in 0..<(staysLocked ? 2 : 1) {
      // The statement waits for the lock; the server has received the COMMIT behind it but not executed it.
      let process = try await eventually("a change that waits for the lock") {
        try operating.run(
          "SELECT pid FROM pg_locks WHERE relation = to_regclass('requestor') AND NOT granted", by: serverDeadline
        ).first?.integer(0)
      }
      // The writer has given up the connection, and the server notices that its client is gone.
      try await eventually("the server to undo it") {
        let rows = try operating.run(
          "SELECT 1 FROM pg_stat_activity WHERE pid = \(process)", by: serverDeadline)
        return rows.isEmpty ? true : nil
      }
    }
    try blocking.rollback(by: serverDeadline)
    try await added.value
    #expect(try await store.requestors == ["BEFORE", "LATE"])
    #expect(try await store.auditProblems() == [])
  }

  @Test func `a store notices that notifications are blocked, and when they work again`() async throws {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    let hearing = Task {
      var position = try await store.endOfChanges()
      while !Task.isCancelled {
        position = try await store.changes(after: position, waiting: .milliseconds(100)).position
      }
    }
    defer { hearing.cancel() }
    let operating = try place.connect()
    // The server serializes COMMITs with a NOTIFY. One that waits for its standby blocks all others.
    try operating.requireStandby("away")
    try await eventually("the server to read its settings") {
      let rows = try place.connect().run("SHOW synchronous_standby_names", by: serverDeadline)
      return try rows.first?.text(0) == "away" ? true : nil
    }
    let hanging = try DedicatedThread.start(named: "stranger") {
      guard let stranger = try? place.connect(), (try? stranger.begin(by: serverDeadline)) != nil else { return }
      let change: SQL = "UPDATE cluster SET live_codes = live_codes"
      _ = stranger.commit(after: [change, "SELECT pg_notify('stranger', '')"], by: serverDeadline)
    }
    try await eventually("the store to notice that it receives no notifications") { store.isDeaf ? true : nil }
    try operating.requireStandby("")
    hanging.join()
    try await eventually("the store to receive notifications again") { store.isDeaf ? nil : true }
  }

  @Test func `frozen connections are given up, and the store writes again when they thaw`() async throws {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    var options = try place.options()
    options.statementPatience = .seconds(2)
    let store = try PostgreSQLStore(options)
    defer { store.close() }
    try await store.add("BEFORE")
    let operating = try place.connect()
    let backends = try operating.run(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'regent one' AND pid <> pg_backend_pid()",
      by: serverDeadline
    ).map { try Int32($0.integer(0)) }
    #expect(backends.count >= 1)
    for process in backends { kill(process, SIGSTOP) }
    let added = Task { try await store.add("FROZEN") }
    try await eventually("the writer to notice") { store.awayFor == nil ? nil : true }
    for process in backends { kill(process, SIGCONT) }
    _ = try await outcome { try await added.value }
    try await eventually("the store to write again") {
      try await outcome { try await store.add("AFTER") } == nil ? true : nil
    }
    let found = try await store.requestors
    #expect(Set(found).subtracting(["FROZEN"]) == ["AFTER", "BEFORE"], "\(found)")
  }

  @Test func `the store refuses an old primary after it has seen a newer timeline`() async throws {
    let (old, new) = (try PostgreSQLServer(), try PostgreSQLServer(isStandby: true))
    func tool(_ name: String, _ server: PostgreSQLServer) -> String {
      "\(name) -h \(server.folder) -p \(server.port) -U regent"
    }
    func shell(_ line: String) throws {
      let done = try run("bash", ["-o", "pipefail", "-c", line])
      #expect(done.status == 0, "\(done.errorText)")
    }
    try shell("\(tool("psql", new)) -q -c 'SELECT pg_promote()' regent >/dev/null")
    try await eventually("the standby to take changes") {
      (try? Connection.open(ConnectionSettings(url: new.socketURL), by: serverDeadline)) == nil ? nil : true
    }
    let place = try DatabasePlace(on: new)
    var options = try impatient(place)
    options.connection.hosts += try ConnectionSettings(url: old.socketURL).hosts
    let store = try PostgreSQLStore(options)
    defer { store.close() }
    try await store.add("BEFORE")
    // The old primary has a recent copy of all rows and accepts connections.
    try shell("\(tool("pg_dump", new)) regent | \(tool("psql", old)) -q regent >/dev/null")
    // A store that has seen neither server compares the timelines of both before it uses the first.
    var other = options
    other.node = "other"
    other.connection.hosts.reverse()
    let second = try PostgreSQLStore(other)
    try await second.add("SECOND")
    second.close()
    #expect(try await store.requestors.contains("SECOND"))
    kill(try new.pid, SIGQUIT)
    try await eventually("the new primary to end") { new.isReady ? nil : true }
    for body in [{ try await store.add("LOST") }, { _ = try await store.requestors }] {
      let refused = try await outcome(body)
      #expect("\(String(describing: refused))".contains("is an old primary: its timeline is 1, and 2 was seen"))
    }
  }

  @Test func `an unreachable database is reported within the time limit`() async throws {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    let store = try PostgreSQLStore(impatient(place))
    defer { store.close() }
    try await store.add("BEFORE")
    #expect(store.awayFor == nil)
    kill(try server.pid, SIGQUIT)
    try await eventually("the server to end") { !server.isReady }
    for body in [{ try await store.add("AWAY") }, { _ = try await store.requestors }] {
      let refused = try await outcome(body)
      guard case .unavailable = refused else { Issue.record("\(String(describing: refused))"); return }
    }
    #expect(store.awayFor != nil)
  }

  @Test func `the reported outage lasts as long as the server is stopped, although requests fail meanwhile`()
    async throws
  {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    let store = try PostgreSQLStore(impatient(place))
    defer { store.close() }
    let position = try await store.endOfChanges()
    kill(try server.pid, SIGINT)
    try await eventually("the server to end") { server.isReady ? nil : true }
    var before = Duration.zero
    // Like a node, which asks for changes again after each failure.
    try await eventually("the store to be away for two seconds") { () async -> Bool? in
      _ = try? await store.changes(after: position, waiting: .milliseconds(100))
      let now = store.awayFor ?? .zero
      #expect(now >= before)
      before = now
      return now > .seconds(2) ? true : nil
    }
  }
}
