import FoundationEssentials
import TestSupport
import Testing

/// Checks that each glossary row has a meaning and names an existing file.
@Suite("The glossary")
struct GlossaryTests {
  private static func rows() throws -> [[String]] {
    let text = String(decoding: try readFile("\(packageFolder())/docs/glossary.md"), as: UTF8.self)
    return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
      .map { line in line.split(separator: "|").map { String($0).trimmed } }
  }

  @Test func `each row of the glossary has a word, a meaning and an existing file`() throws {
    let rows = try Self.rows()
    // The glossary explains concepts of the product only. Types are explained by their comments.
    #expect((12...30).contains(rows.count))
    for row in rows {
      try #require(row.count == 3, "\(row)")
      let file = row[2].filter { $0 != "`" }
      #expect(FileManager.default.fileExists(atPath: "\(packageFolder())/\(file)"), "\(row[0]): \(file)")
      #expect(!row[1].isEmpty && row[1].hasSuffix("."), "\(row[0])")
    }
  }

  @Test func `the words of the glossary are in alphabetical order without duplicates`() throws {
    let words = try Self.rows().map { $0[0] }
    #expect(words == words.sorted())
    #expect(Set(words).count == words.count)
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
