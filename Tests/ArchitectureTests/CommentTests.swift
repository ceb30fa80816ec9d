import TestSupport
import Testing

@Suite("Comments and names for readers")
struct CommentTests {
  private static let rightMargin = 120

  @Test func `test names contain no character that XML must escape`() throws {
    for file in try swiftFiles(below: "Tests") {
      for (number, line) in file.lines.enumerated() {
        let words = line.drop { $0 == " " }
        guard words.hasPrefix("func `") || words.hasPrefix("@Test func `") else { continue }
        let name = line.split(separator: "`").dropFirst().first ?? ""
        // The toolchain writes the name into an XML attribute without escaping it.
        let isPlain = name.allSatisfy { !"\"<>&".contains($0) }
        #expect(isPlain, "\(file.path):\(number + 1)")
      }
    }
  }

  @Test(arguments: ["Sources", "Tests"])
  func `no comment exceeds the right margin`(top: String) throws {
    for file in try swiftFiles(below: top) {
      for (number, line) in file.lines.enumerated() where line.count > Self.rightMargin {
        // `swift format` checks the width of code. It allows long literals.
        let isComment = line.drop { $0 == " " }.hasPrefix("//")
        #expect(!isComment, "\(file.path):\(number + 1) has \(line.count) characters")
      }
    }
  }

  @Test(arguments: ["AccessEnabler", "MediaTokenVerifier"])
  func `every public type and function of a library has a doc comment`(library: String) throws {
    for file in try swiftFiles(below: "Sources/\(library)") {
      for (number, line) in file.lines.enumerated() {
        let tokens = line.split(separator: " ").map(String.init)
        let isPublic = tokens.first { !$0.hasPrefix("@") } == "public"
        guard isPublic, !tokens.contains("override"), !tokens.contains("import"),
          let keyword = tokens.first(where: { Self.described.contains($0) })
        else { continue }
        let name = tokens.drop { $0 != keyword }.dropFirst().first?.prefix { $0 != "(" && $0 != "<" } ?? ""
        // The protocols of the standard library describe these functions.
        guard !["encode", "hash"].contains(name) else { continue }
        // Attributes may be between the comment and the declaration.
        let above = file.lines[..<number].reversed().prefix(8).prefix { !$0.isEmpty && !$0.hasSuffix("}") }
        #expect(
          above.contains { $0.drop { $0 == " " }.hasPrefix("///") }, "\(file.path):\(number + 1) has no doc comment")
      }
    }
  }
  private static let described: Set<String> = ["struct", "class", "enum", "actor", "protocol", "func"]

  /// Words that leave the actor of a sentence open, so that it must be read twice.
  private static let indefinite: Set<String> = [
    "somebody", "nobody", "anybody", "whoever", "whomever", "someone", "anyone", "noone",
  ]

  // How often these words occur in each area. Lower a number when its area has fewer, and never raise one.
  private static let mostIndefinite = [
    "Sources": 39, "Tests": 211, "docs": 5, "deploy": 3, "web": 7, "README.md": 0,
  ]

  @Test(arguments: mostIndefinite.keys.sorted())
  func `words without a definite actor become fewer`(area: String) throws {
    let paths = area.hasSuffix(".md") ? [area] : try filesBelow(area)
    let endings = [
      ".swift", ".md", ".html", ".txt", ".py", ".sh", ".yaml", ".json", ".h", ".c", ".service", ".example",
    ]
    var places: [String] = []
    for path in paths where endings.contains(where: path.hasSuffix) && !path.contains("/.build/") {
      for (number, line) in try text(path).split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let words = line.lowercased().replacing("no one", with: "noone").split { !$0.isLetter }
        places += words.filter { Self.indefinite.contains(String($0)) }.map { "\(path):\(number + 1): \($0)" }
      }
    }
    let allowed = Self.mostIndefinite[area] ?? 0
    #expect(places.count <= allowed, "\(places.count), allowed \(allowed): \(places.joined(separator: "\n"))")
  }
}
