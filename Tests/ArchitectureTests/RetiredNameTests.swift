import TestSupport
import Testing

@Suite("Names that were given up stay given up")
struct RetiredNameTests {
  @Test func `none of the old names stands in its old target`() throws {
    let files = Dictionary(grouping: try swiftFiles(below: "Sources"), by: \.target)
    for name in retiredNames {
      let own = try #require(files[name.target], "no target \(name.target)")
      for file in own {
        #expect(!file.path[...].mentions(name.old), "\(file.path): \(name.old) is \(name.today) today")
        for (number, line) in file.lines.enumerated() where line.mentions(name.old) {
          Issue.record("\(file.path):\(number + 1): \(name.old) is \(name.today) today")
        }
      }
    }
  }

  @Test func `files that were renamed do not come back`() throws {
    let paths = Set(try swiftFiles(below: "Sources").map(\.path))
    for file in retiredFiles { #expect(!paths.contains("Sources/\(file)"), "\(file)") }
  }

  @Test func `no target has one of the old module names`() throws {
    #expect(try Set(folders(below: "Sources")).intersection(retiredModules).isEmpty)
    #expect(retiredModules.intersection(layers.keys).isEmpty)
    for file in try swiftFiles(below: "Sources") + swiftFiles(below: "Tests") {
      #expect(retiredModules.isDisjoint(with: importedModules(file)), "\(file.path)")
    }
  }

  @Test func `a name is found as a whole word and only so`() {
    let line = "  let desk = AdminDesk(meant: desks) // Desk, meant(by:)"[...]
    #expect(line.mentions("desk") && line.mentions("AdminDesk") && line.mentions("Desk"))
    #expect(line.mentions("meant(") && line.mentions("desks"))
    #expect(!line.mentions("Admin") && !line.mentions("des") && !line.mentions("eant("))
    #expect("Machine+Errands.swift"[...].mentions("Errands"))
    #expect("desk"[...].mentions("desk") && !""[...].mentions("desk"))
  }
}
