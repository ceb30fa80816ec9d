import TestSupport
import Testing

@testable import AccessEnabler

/// The platform account against the cookbook's rows: the whole product of permission, sign-in, provider, integration,
/// SSO, boarding, degradation, answer and step.
@Suite("Machine: the platform account", .serialized)
struct PlatformTableTests {
  @Test(arguments: PlatformTable.steps)
  func `every combination is as the cookbook has it`(step: String) throws {
    let table = try PlatformTable()
    let rows = table.rows(of: step)
    try #require(!rows.isEmpty)
    var wrong: [String] = []
    for row in rows {
      guard let line = table.line(for: row) else {
        wrong.append("\(row): no line says what comes of it")
        continue
      }
      var bench = PlatformBench(row)
      let told = bench.run()
      let own = line.ownAfter == "same" ? row.own : line.ownAfter
      // A sign-in that has run out is none.
      let isOwnRight = bench.own == own || own == "expired" && bench.own == "none"
      guard told == line.told, isOwnRight, bench.children == line.children else {
        wrong.append(
          "line \(line.number), \(row): told \(told), not \(line.told); own \(bench.own), not \(own); "
            + "\(bench.children) children, not \(line.children)")
        continue
      }
    }
    guard !wrong.isEmpty else { return }
    Issue.record("\(wrong.count) of \(rows.count): \(wrong.prefix(5).joined(separator: "; "))")
  }

  @Test func `every line of the table is about something`() throws {
    let table = try PlatformTable()
    var used: Set<Int> = []
    for step in PlatformTable.steps {
      for row in table.rows(of: step) { table.line(for: row).map { _ = used.insert($0.number) } }
    }
    #expect(Set(table.lines.map(\.number)).subtracting(used).sorted() == [])
  }
}
