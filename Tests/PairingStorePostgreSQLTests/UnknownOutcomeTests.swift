import Glibc
import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
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

/// A server of one's own: it is stopped, frozen, and waits for a standby that is not there.
@Suite("When nobody knows what a COMMIT came to", .serialized)
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

  @Test func `a wait for the standby ends by our own deadline, and is settled when the standby is there`() async throws
  {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    let store = try PostgreSQLStore(impatient(place))
    defer { store.close() }
    try await store.add("BEFORE")
    let operating = try place.connect()
    func standby(_ name: String) throws {
      try operating.run(
        "ALTER SYSTEM SET synchronous_standby_names = \(unsafeRawSQL: "'\(name)'")", by: serverDeadline)
      try operating.run("SELECT pg_reload_conf()", by: serverDeadline)
    }
    try standby("away")
    // The server reads its settings by and by.
    let unknown = try await eventually("a COMMIT that waits") {
      try await outcome { try await store.add("WAITING\(UInt32.random(in: 0 ... .max))") }
    }
    guard case .unknownOutcome = unknown else { Issue.record("\(unknown)"); return }
    // Nobody sees what the standby may not have, and what is asked meanwhile gets an answer in time.
    let others = try await store.requestors
    let refused = try await outcome { try await store.add("REFUSED") }
    guard case .unavailable = refused else { Issue.record("\(String(describing: refused))"); return }
    try standby("")
    try await eventually("the lane to go on") { try await outcome { try await store.add("AFTER") } == nil ? true : nil }
    let found = try await store.requestors
    // The one that was unknown is there, once; the one that was refused is not.
    #expect(found.count == others.count + 2 && found.contains("AFTER") && !found.contains("REFUSED"), "\(found)")
    #expect(try await store.auditProblems() == [])
  }

  @Test func `connections that freeze are given up, and the store goes on when they thaw`() async throws {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    var options = try place.options()
    options.statementPatience = .milliseconds(700)
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
    try await eventually("the lane to notice") { store.awayFor == nil ? nil : true }
    for process in backends { kill(process, SIGCONT) }
    _ = try await outcome { try await added.value }
    try await eventually("the store to write again") {
      try await outcome { try await store.add("AFTER") } == nil ? true : nil
    }
    let found = try await store.requestors
    #expect(Set(found).subtracting(["FROZEN"]) == ["AFTER", "BEFORE"], "\(found)")
  }

  @Test func `a database that is away is said to be, in time`() async throws {
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
}
