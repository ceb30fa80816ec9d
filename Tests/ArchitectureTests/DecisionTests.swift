import FoundationEssentials
import TestSupport
import Testing

@Suite("Decision records")
struct DecisionTests {
  /// The names in back quotes in a page's tables, split at spaces.
  private func namesInTables(_ page: String) -> [String] {
    page.split(separator: "\n").filter { $0.hasPrefix("|") }.flatMap { row in
      row.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.flatMap { $0.element.split(separator: " ").map(String.init) }
    }
  }

  @Test func `decision records are numbered without gaps in their file names and headings`() throws {
    let names = try entries(of: "docs/decisions").sorted()
    for (index, name) in names.enumerated() {
      let digits = String(index + 1)
      let number = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      #expect(name.hasPrefix("\(number)-"), "\(name) should begin with \(number)")
      #expect(try text("docs/decisions/\(name)").hasPrefix("# \(index + 1). "), "\(name)")
    }
  }

  @Test func `decision record 0001 names every target and every shared test folder`() throws {
    let named = namesInTables(try text("docs/decisions/0001-layers.md"))
    // A name with a dot or a slash is a file or a folder and not a target.
    let targets = Set(named.filter { !$0.contains(".") && !$0.contains("/") })
    #expect(Set(try folders(below: "Sources")).subtracting(targets).sorted() == [], "docs/decisions/0001-layers.md")
    let testFolders = try roomsForTests()
    #expect(testFolders.subtracting(targets).sorted() == [], "docs/decisions/0001-layers.md")
    let all = testFolders.union(try folders(below: "Sources"))
    #expect(targets.subtracting(all).sorted() == [], "there is no such target")
    #expect(named.count == Set(named).count, "a target stands in one row")
  }

  @Test func `decision record 0001 lists the targets in the order of their layers`() throws {
    var rowOf: [String: Int] = [:]
    let rows = try text("docs/decisions/0001-layers.md").split(separator: "\n").filter { $0.hasPrefix("|") }
    for (index, row) in rows.enumerated() {
      for name in namesInTables(String(row)) { rowOf[name] = index }
    }
    for (one, layer) in layers {
      for (other, itsLayer) in layers {
        let row = try #require(rowOf[one], "\(one) is in no row")
        let itsRow = try #require(rowOf[other], "\(other) is in no row")
        if layer == itsLayer {
          #expect(row == itsRow, "\(one) and \(other) share a layer")
        } else {
          #expect((layer < itsLayer) == (row < itsRow), "\(one) and \(other) are the wrong way round")
        }
      }
    }
  }
}
