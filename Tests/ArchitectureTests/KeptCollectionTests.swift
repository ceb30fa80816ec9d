import Testing

/// Each collection that outlives a call needs a limit, because a client could fill it.
///
/// Its row in Sources/limits.md says what happens at the limit.
@Suite struct `The register of limits` {
  private static let targets: Set = [
    "PairingService", "HTTPServer", "DeviceAgent", "PairingStoreRows", "PairingStoreSQLite", "PairingStorePostgreSQL",
  ]

  @Test func `every collection that outlives a call has a row in the register of limits`() throws {
    let page = try text("Sources/limits.md")
    let listed = Set(codeSpans(page).map(String.init))
    for file in try swiftFiles(below: "Sources") where Self.targets.contains(file.target) {
      for kept in Self.collections(in: file.codeLines) {
        let hasRow = listed.contains(kept.name)
        #expect(hasRow, "Sources/limits.md has no row for \(kept.name) (\(file.path):\(kept.line))")
      }
    }
  }

  /// Rows on disk outlive every call, and a new table is forgotten more easily than a new collection.
  @Test func `every database table has a row in the register of limits`() throws {
    let rows = try text("Sources/limits.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
    // In the first cell, because a table that another row only mentions has no row of its own.
    let named = Set(rows.flatMap { codeSpans(String($0.split(separator: "|").first ?? "")) }.map(String.init))
    var tables: [String: String] = [:]
    for file in try swiftFiles(below: "Sources") where Self.targets.contains(file.target) {
      for line in file.lines {
        for found in line.matches(of: Self.table) { tables[String(found.output.1)] = file.path }
      }
    }
    #expect(tables.count > 30)
    for (table, path) in tables {
      let hasRow = named.contains(table)
      #expect(hasRow, "Sources/limits.md has no row for the table \(table) (\(path))")
    }
  }

  @Test(arguments: [
    ("final class Codes {", "  private var byHash: [CodeHash: Code] = [:]", ["Codes.byHash"]),
    ("struct Meters {", "  var meters = Set<Source>()", ["Meters.meters"]),
    ("final class Uses: Sendable {", "  private let uses = Locked([Key: Instant]())", ["Uses.uses"]),
    ("final class Keys {", "  private let keys: Locked<[Ready]>", ["Keys.keys"]),
    ("struct Batch {", "  var rows: Array<Row>", ["Batch.rows"]),
    ("final class Codes {\n  struct State {", "    var byHash = [CodeHash: Code]()", ["Codes.State.byHash"]),
    ("struct Page {", "  let rows: [Row]", []), ("struct Page {", "  var rows: [Row] { all }", []),
    ("struct Page {", "  var count = 0", []), ("struct Page {", "    var local = [1]", []),
  ])
  func `the scanner of this test recognises collections that can grow`(type: String, member: String, expected: [String])
  {
    let lines = type.split(separator: "\n") + [member[...]]
    #expect(Self.collections(in: lines).map(\.name) == expected)
  }

  /// The members that can grow, named with their enclosing types: collections in a `var` or in a lock.
  ///
  /// A collection in a `let` cannot grow.
  private static func collections(in lines: [Substring]) -> [(name: String, line: Int)] {
    var types: [(indent: Int, name: Substring)] = []
    var found: [(name: String, line: Int)] = []
    for (number, line) in lines.enumerated() {
      let indent = line.prefix { $0 == " " }.count
      let words = line.dropFirst(indent)
      guard !words.isEmpty else { continue }
      while let last = types.last, indent <= last.indent { types.removeLast() }
      if let type = try? typeHead.firstMatch(in: words)?.output.1 {
        types.append((indent, type))
        continue
      }
      guard let type = types.last, indent == type.indent + 2,
        let member = try? memberHead.firstMatch(in: words)?.output
      else { continue }
      let (isVariable, name, rest) = (member.1 == "var", member.2, member.3)
      let isComputed = rest.hasSuffix("{") || rest.contains(" { ")
      let isLocked = lock.firstMatchExists(in: rest)
      guard !isComputed || rest.contains("didSet"), isLocked || isVariable && collection.firstMatchExists(in: rest)
      else { continue }
      found.append((types.map { "\($0.name)." }.joined() + name, number + 1))
    }
    return found
  }

  private static var table: Regex<(Substring, Substring)> {
    /CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([a-z_]+)/
  }
  private static var typeHead: Regex<(Substring, Substring)> {
    /^(?:[a-z()@_]+ )*(?:struct|class|actor|enum|extension) ([A-Za-z0-9.]+)/
  }
  private static var memberHead: Regex<(Substring, Substring, Substring, Substring)> {
    /^(?:(?:private|fileprivate|package|public|internal|weak|private\(set\)|package\(set\)) )*(var|let) ([A-Za-z0-9]+)(.*)$/
  }
  private static var collection: Regex<Substring> {
    /^ ?(?:: ?(?:\[|Set<|Dictionary<|Array<|ContiguousArray<)|= ?(?:\[|Set[<(]|ContiguousArray))/
  }
  private static var lock: Regex<Substring> { /(?:Locked|Monitor|Mutex)[<(](?:\[|Set[<(]|Dictionary<|Array<)/ }
}

extension Regex {
  fileprivate func firstMatchExists(in text: Substring) -> Bool { ((try? firstMatch(in: text)) ?? nil) != nil }
}
