import TestSupport
import Testing

@testable import AccessEnabler

/// Compares every combination of permission, sign-in, provider, integration, SSO, boarding, degradation, answer and
/// step with the table that was made from the platform cookbook.
@Suite("State machine: the platform account", .serialized)
struct PlatformTableTests {
  @Test(arguments: PlatformTable.steps)
  func `each combination of permission, sign-in and provider has the result in platform-account.txt`(step: String)
    throws
  {
    let table = try PlatformTable()
    let rows = table.rows(of: step)
    try #require(!rows.isEmpty)
    var wrong: [String] = []
    for row in rows {
      guard let line = table.line(for: row) else {
        wrong.append("\(row): no line of the table matches")
        continue
      }
      var bench = PlatformBench(row)
      let told = bench.run()
      let own = line.ownAfter == "same" ? row.own : line.ownAfter
      // An expired sign-in counts as none.
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

  @Test func `every line of platform-account.txt matches at least one combination`() throws {
    let table = try PlatformTable()
    var used: Set<Int> = []
    for step in PlatformTable.steps {
      for row in table.rows(of: step) { table.line(for: row).map { _ = used.insert($0.number) } }
    }
    #expect(Set(table.lines.map(\.number)).subtracting(used).sorted() == [])
  }
}
