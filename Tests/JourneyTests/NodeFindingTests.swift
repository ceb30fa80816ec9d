import Administration
import PairingStore
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `what doctor says of nodes` {
  private func node(_ name: String, _ version: String = "0.2.0", silence: Duration = .zero, ahead: Duration = .zero)
    throws -> NodeRecord
  {
    NodeRecord(
      id: try named(name), version: version, started: Instant(milliseconds: 0), silence: silence,
      said: NodeTalk.Said(clockAhead: ahead).text, wish: nil)
  }

  @Test func `nothing, when they are there, of one release or two, and agree on the time`() throws {
    #expect(NodeCare.findings(about: []).isEmpty)
    let well = [
      try node("a"), try node("b", "0.3.1", silence: .seconds(5), ahead: .milliseconds(1000)),
      try node("c", ahead: .milliseconds(-1000)),
    ]
    #expect(NodeCare.findings(about: well).isEmpty)
  }

  @Test func `who is silent, whose clock is wrong, and that releases are too far apart`() throws {
    let found = NodeCare.findings(about: [
      try node("a", "0.1.0", silence: .seconds(90)), try node("b", ahead: .milliseconds(-2500)),
      try node("c", "0.4.0", ahead: .seconds(3)), try node("d", "0.2.9"),
    ])
    #expect(
      found.map { "\($0.check): \($0.detail)" } == [
        "node a: it has said nothing for 90 s", "node b: its clock is 2 s behind the database's",
        "node c: its clock is 3 s ahead of the database's",
        "nodes: they are of versions that do not serve together: 0.2.0, 0.2.9, 0.4.0",
      ])
    #expect(found.allSatisfy { $0.status == .warning && $0.fix != nil })
    #expect(!NodeCare.isOneReleaseApart(["0.9.0", "1.0.0"]))
  }
}
