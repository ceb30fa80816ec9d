import TestSupport
import Testing

/// A signed field that no verifier compares lets a text be used for another purpose than it was signed for.
///
/// Sources/signed.md says where each field is compared.
@Suite struct `The register of signed texts` {
  @Test func `every JWT type and every purpose of an authenticated text has a row in the register`() throws {
    let listed = Set(codeSpans(try text("Sources/signed.md")).map(String.init))
    var names: Set<String> = []
    for file in try swiftFiles(below: "Sources") {
      for line in file.codeLines {
        for found in line.matches(of: /FramedFields\(purpose: "([^"]+)"/) { names.insert(String(found.output.1)) }
        for found in line.matches(of: /static let (?:earlierT|t)ype = "([^":]+)"/) {
          if found.output.1.lowercased().contains("jwt") { names.insert(String(found.output.1)) }
        }
      }
    }
    #expect(names.count > 20)
    for name in names.sorted() { #expect(listed.contains(name), "Sources/signed.md has no row for \(name)") }
  }

  @Test func `units that may hold keys write no memory to a core dump or to swap`() throws {
    for name in ["regentd.service", "regentd@.service", "regent.service", "regent-pair@.service"] {
      let unit = try text("deploy/systemd/\(name)")
      #expect(unit.contains("\nLimitCORE=0\n") && unit.contains("\nMemorySwapMax=0\n"), "\(name)")
    }
  }
}
