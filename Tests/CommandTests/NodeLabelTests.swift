import Administration
import RegentPairing
import TestSupport
import Testing

@testable import regentd

@Suite struct `numbers of one of several nodes` {
  @Test func `bear its name, each line, and nothing else changes`() throws {
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

  @Test func `are the ones that alerts are made of`() throws {
    let offered = databaseAway(nil) + standbyAwaited(true) + bellUnheard(false)
    let text = String(
      decoding: try readFile("\(packageFolder())/deploy/prometheus/regentd-nodes-alerts.yml"), as: UTF8.self)
    let names = text.split { !($0.isLetter || $0 == "_") }.filter { $0.hasPrefix("regent_") }
    #expect(names.count == 3)
    for name in names { #expect(offered.contains("\n\(name) "), "\(name)") }
    #expect(offered.contains("\nregent_standby_awaited 1\n"))
  }

  @Test func `a change that took long is said`() {
    #expect(ServerUpkeep.findings(ofWritingIn: .milliseconds(249)).isEmpty)
    let slow = ServerUpkeep.findings(ofWritingIn: .milliseconds(612))
    #expect(slow.map(\.detail) == ["a change took 612 ms until it was safe, and nodes take turns"])
  }
}
