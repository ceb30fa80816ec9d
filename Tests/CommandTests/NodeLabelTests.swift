import Administration
import PairingService
import PairingStorePostgreSQL
import RegentPairing
import TestSupport
import Testing

@testable import regentd

@Suite struct `Metrics and findings of a node` {
  @Test func `each metrics line of a node gets its name as a label, and nothing else changes`() throws {
    let node = try #require(NodeID("tv-1"))
    let text = """
      # HELP regent_waiting Requests that are held {until} something changes.
      # TYPE regent_waiting gauge
      regent_waiting 3
      regent_commit_seconds_bucket{le="+Inf"} 7

      """
    #expect(
      labelled(text, node: node) == """
        # HELP regent_waiting Requests that are held {until} something changes.
        # TYPE regent_waiting gauge
        regent_waiting{node="tv-1"} 3
        regent_commit_seconds_bucket{node="tv-1",le="+Inf"} 7

        """)
  }

  @Test func `the nodes' alerts use only metrics that a node has`() throws {
    let offered =
      databaseAway(nil) + standbyAwaited(true) + bellUnheard(false)
      + NodeChangeFeed.exposition(missed: 2, silent: 1, clockAhead: .milliseconds(-2_500), .outvoted)
    let text = String(
      decoding: try readFile("\(packageFolder())/deploy/prometheus/regentd-nodes-alerts.yml"), as: UTF8.self)
    let names = text.split { !($0.isLetter || $0 == "_") }.filter { $0.hasPrefix("regent_") }
    #expect(Set(names).count == 7)
    for name in names { #expect(offered.contains("\n\(name) "), "\(name)") }
    // The metrics of a file database, except those of its log, exist for a server, too.
    for name in ["commit_seconds_count", "commits_failed_total", "disk_full_total"] {
      #expect(exposition(WriteNumbers()).contains("\nregent_\(name) 0\n"), "\(name)")
    }
    for line in ["regent_standby_awaited 1", "regent_clock_off_seconds -2.5", "regent_clock_outvoted 1"] {
      #expect(offered.contains("\n\(line)\n"), "\(line)")
    }
  }

  @Test func `doctor names a database to which every role may connect, with the SQL that changes this`() {
    var server = ServerFacts()
    func said() -> [String?] { ServerUpkeep.findings(of: server).filter { $0.check == "database-rights" }.map(\.fix) }
    #expect(said() == [])
    server.revocation = "REVOKE CONNECT ON DATABASE regent FROM PUBLIC"
    #expect(said() == [server.revocation])
    server.schemaRevocation = "REVOKE CREATE ON SCHEMA public FROM PUBLIC"
    #expect(said() == [server.revocation, server.schemaRevocation])
  }

  @Test func `doctor names a standby that does not stream or for which no change waits`() {
    func said(_ standbys: [ServerFacts.Standby], isWanted: Bool = true) -> [String] {
      var server = ServerFacts()
      (server.standbys, server.wantsSynchronousStandby) = (standbys, isWanted)
      return ServerUpkeep.findings(of: server).filter { $0.check == "standby" }.map { "\($0.status): \($0.detail)" }
    }
    func standby(_ name: String, _ state: String?, _ sync: String?) -> ServerFacts.Standby {
      ServerFacts.Standby(name: name, state: state, sync: sync)
    }
    #expect(
      said([], isWanted: false) == [
        "warning: there is no synchronous standby: if the server is lost, its latest changes are lost, too"
      ])
    #expect(
      said([standby("db-2", "streaming", "async")], isWanted: false) == [
        "warning: there is no synchronous standby: if the server is lost, its latest changes are lost, too"
          + "; not synchronous: db-2"
      ])
    #expect(
      said([]) == ["bad: synchronous_standby_names is set, but no standby is connected: all changes wait"])
    #expect(
      said([standby("db-2", nil, nil)]) == [
        "good: commits wait for a standby; this role may not see whether db-2 streams"
      ])
    #expect(
      said([standby("db-2", "streaming", "quorum"), standby("db-3", "catchup", "potential")]) == [
        "good: db-2 has all acknowledged changes", "warning: db-3 does not stream: it is in the state “catchup”",
      ])
    #expect(
      said([standby("db-2", "streaming", "async"), standby("db-3", "startup", "sync")]) == [
        "bad: no synchronous standby is streaming; not synchronous: db-2",
        "warning: db-3 does not stream: it is in the state “startup”",
      ])
  }

  @Test func `doctor names a role without write permission that holds locks, with the SQL that ends this`() {
    var server = ServerFacts()
    #expect(!ServerUpkeep.findings(of: server).contains { $0.check == "database-locks" })
    (server.strangers, server.ending) = (["the role “x” (process 7)"], "SELECT pg_terminate_backend(7)")
    let found = ServerUpkeep.findings(of: server).first { $0.check == "database-locks" }
    #expect(found?.status == .bad && found?.detail.hasPrefix("the role “x” (process 7) has no write access") == true)
    #expect(found?.fix == "SELECT pg_terminate_backend(7); then allow only the service to connect to the database")
  }

  @Test func `doctor reports clocks that differ by more than two seconds`() {
    func said(_ ahead: Duration) -> [String] {
      var server = ServerFacts()
      server.clockAhead = ahead
      return ServerUpkeep.findings(of: server).filter { $0.check == "database-clock" }.map(\.detail)
    }
    #expect(said(.seconds(1)).isEmpty && said(.seconds(-1)).isEmpty)
    #expect(said(.milliseconds(2_900)) == ["the clocks of this machine and the database server differ by 2 s"])
    #expect(said(.milliseconds(-3_100)) == ["the clocks of this machine and the database server differ by 3 s"])
  }

  @Test func `doctor reports a slow write to the database`() {
    #expect(ServerUpkeep.findings(ofWritingIn: .milliseconds(249)).isEmpty)
    let slow = ServerUpkeep.findings(ofWritingIn: .milliseconds(612))
    #expect(slow.map(\.detail) == ["a commit took 612 ms, and the nodes commit one after the other"])
  }
}
