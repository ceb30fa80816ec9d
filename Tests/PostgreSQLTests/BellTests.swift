import PostgreSQL
import PostgreSQLTestSupport
import RegentPlatform
import TestSupport
import Testing

@Suite("Notifications of PostgreSQL (LISTEN and NOTIFY)")
struct BellTests {
  @Test func `a listener receives notifications in order with the sender's backend`() throws {
    let server = try sharedServer()
    let (one, other) = (try connect(server), try connect(server))
    try one.listen(to: "bell_order", by: soon)
    for payload in ["first", "second", "Größe"] {
      try other.run("SELECT pg_notify('bell_order', \(payload))", by: soon)
    }
    var heard: [Notification] = []
    while heard.count < 3 {
      let more = try one.notifications(by: soon)
      try #require(!more.isEmpty)
      heard += more
    }
    #expect(heard.map(\.payload) == ["first", "second", "Größe"])
    #expect(heard.allSatisfy { $0.channel == "bell_order" && $0.backend == other.backend })
  }

  @Test func `waiting for notifications without any is no error`() throws {
    let connection = try connect(sharedServer())
    try connection.listen(to: "bell_silence", by: soon)
    #expect(try connection.notifications(by: .after(.milliseconds(50))).isEmpty && connection.isOpen)
  }

  @Test func `a notification that arrives during a statement is not lost`() throws {
    let connection = try connect(sharedServer())
    try connection.listen(to: "bell_own", by: soon)
    try connection.run("SELECT pg_notify('bell_own', 'mine')", by: soon)
    try connection.run("SELECT 1", by: soon)
    #expect(try connection.notifications(by: soon).map(\.payload) == ["mine"])
  }

  @Test func `a cut connection is reported as lost and not as silence`() throws {
    let server = try sharedServer()
    let (one, other) = (try connect(server), try connect(server))
    try one.listen(to: "bell_cut", by: soon)
    try other.run("SELECT pg_terminate_backend(\(Int(one.backend)))", by: soon)
    let error = try failure {
      for _ in 0..<100 { _ = try one.notifications(by: soon) }
    }
    #expect(error.kind == .lost && !one.isOpen)
  }
}
