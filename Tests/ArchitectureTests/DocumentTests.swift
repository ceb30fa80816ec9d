import TestSupport
import Testing

@Suite("References in the documents")
struct DocumentTests {
  private func documents() throws -> [String] {
    ["README.md", "CHANGELOG.md", "Sources/limits.md"] + (try filesBelow("docs").filter { $0.hasSuffix(".md") })
  }

  @Test func `every path in a document exists`() throws {
    let tops = ["Sources", "Tests", "docs", "deploy", "web"]
    let files = try tops.flatMap { try filesBelow($0) }
    let targets = try folders(below: "Sources")
    for document in try documents() {
      for span in codeSpans(try text(document)) where !span.contains(" ") {
        let path = span.hasSuffix("/") ? span.dropLast() : span
        guard let first = path.split(separator: "/").first.map(String.init) else { continue }
        let isFromTop = tops.contains(first) && path.contains("/")
        let isInTarget = targets.contains(first) && path.contains("/")
        guard isFromTop || isInTarget || path.hasSuffix(".swift") else { continue }
        let exists = files.contains { file in
          isFromTop
            ? file == path || file.hasPrefix("\(path)/")
            : "/\(file)".hasSuffix("/\(path)") || "/\(file)/".contains("/\(path)/") || file.hasSuffix("/\(path).swift")
        }
        #expect(exists, "\(document) names \(span)")
      }
    }
  }

  @Test func `every link in a document leads to a file`() throws {
    for document in try documents() {
      let folder = document.split(separator: "/").dropLast().map(String.init)
      for piece in try text(document).split(separator: "](").dropFirst() {
        guard let target = piece.split(separator: ")").first, !target.hasPrefix("http"), !target.hasPrefix("#") else {
          continue
        }
        var place = folder
        for step in target.split(separator: "/") {
          if step == ".." { place = place.dropLast() } else { place.append(String(step)) }
        }
        let path = place.joined(separator: "/")
        #expect(throws: Never.self, "\(document) links to \(target)") { try readFile("\(packageFolder())/\(path)") }
      }
    }
  }

  @Test func `every test suite that a document names exists`() throws {
    let sources = try swiftFiles(below: "Tests")
    let names = Set(sources.flatMap { [String($0.name.dropLast(6)), $0.target] })
    for document in try documents() {
      for span in codeSpans(try text(document)) where span.hasSuffix("Tests") && span.allSatisfy(\.isLetter) {
        let isSuite = sources.contains { file in file.lines.contains { $0.contains("struct \(span)") } }
        #expect(names.contains(String(span)) || isSuite, "\(document) names \(span)")
      }
    }
  }

  @Test func `docs/index.md links every page, and README links docs/index.md`() throws {
    let index = try text("docs/index.md")
    for document in try filesBelow("docs") where document.hasSuffix(".md") && document != "docs/index.md" {
      let link = document.dropFirst("docs/".count)
      #expect(index.contains("](\(link))"), "docs/index.md has no link to \(document)")
    }
    #expect(try text("README.md").contains("](docs/index.md)"))
  }

  @Test func `README has at most 80 lines`() throws {
    #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 81)
  }
}
