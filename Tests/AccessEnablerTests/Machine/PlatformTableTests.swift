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

  @Test func `the table in porting.md names the status that each call reports`() throws {
    typealias Case = (standing: PlatformStanding, own: SignIn.Source?)
    /// The ids that a call reports in these cases.
    func told(_ call: String, _ cases: [Case]) -> Set<String> {
      let troubles = cases.map { one -> PlatformTrouble? in
        let terms = PlatformRules.Terms()
        switch call {
        case "setRequestor":
          guard case .tell(let trouble) = PlatformRules.start(one.standing, own: one.own, terms: { _ in terms })
          else { return nil }
          return trouble
        case "checkAuthentication": return PlatformRules.check(one.standing, own: one.own, terms: terms).trouble
        default:
          let login = PlatformRules.login(
            one.standing, own: one.own, ownTerms: terms, hasCapable: true, terms: { _ in terms })
          guard case .ownPicker(let trouble) = login else { return nil }
          return trouble
        }
      }
      return Set(troubles.compactMap { $0?.id.rawValue })
    }
    func missing(_ isSignedIn: Bool) -> [Case] {
      [.denied, .undetermined].map { (.known(PlatformStatus(permission: $0, isSignedIn: isSignedIn)), nil) }
    }
    let failed = PlatformStanding.known(PlatformStatus(permission: .granted, isSignedIn: true, failure: "no key"))
    // The cases of each column: first the usual one, then the one in which a cell with “only” reports nothing.
    let columns: [(usual: [Case], exception: [Case])] = [
      (missing(true), missing(false)), ([(.silent("away"), .platform)], [(.silent("away"), nil)]),
      ([(failed, .platform)], [(failed, nil)]),
    ]
    let text = String(decoding: try readFile(packageFolder() + "/docs/porting.md"), as: UTF8.self)
    for call in ["setRequestor", "checkAuthentication", "getAuthentication"] {
      let row = try #require(
        text.split(separator: "\n").first { $0.hasPrefix("| `\(call)` | VSA403") }, "the row of \(call)")
      let cells = row.split(separator: "|").dropFirst()
      for (cell, column) in zip(cells, columns) {
        let ids = Set(
          cell.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            .filter { ["VSA403", "VSA404", "VSA503", "AAPL_ERROR"].contains($0) })
        #expect(told(call, column.usual) == ids, "\(call):\(cell)")
        #expect(told(call, column.exception) == (cell.contains("only") ? [] : ids), "\(call):\(cell)")
      }
    }
  }

  @Test func `each line of platform-account.txt fits a combination of permission, sign-in and provider`() throws {
    let table = try PlatformTable()
    var used: Set<Int> = []
    for step in PlatformTable.steps {
      for row in table.rows(of: step) { table.line(for: row).map { _ = used.insert($0.number) } }
    }
    #expect(Set(table.lines.map(\.number)).subtracting(used).sorted() == [])
  }
}
