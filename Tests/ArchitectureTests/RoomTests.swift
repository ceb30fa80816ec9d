import FoundationEssentials
import TestSupport
import Testing

/// What tests need stands in Tests/, and nothing that is shipped knows it.
@Suite("Test support stays out of the product")
struct RoomTests {
  @Test func `every room for tests is there, in Tests`() throws {
    let (tests, sources) = (try folders(below: "Tests"), try folders(below: "Sources"))
    #expect(try roomsForTests().subtracting(testRooms).sorted() == [], "testRooms in Layers.swift")
    for room in testRooms {
      #expect(tests.contains(room), "Tests/\(room)")
      #expect(!sources.contains(room) && layers[room] == nil, "\(room) is for tests only")
    }
  }

  @Test func `no file of the product imports a room for tests`() throws {
    for file in try swiftFiles(below: "Sources") {
      for module in importedModules(file) {
        #expect(!testRooms.contains(module), "\(file.path) imports \(module)")
        #expect(!module.hasSuffix("Tests") && module != "Testing" && module != "XCTest", "\(file.path)")
      }
    }
  }

  /// The manifest is read as text: the package describes itself only to the package manager.
  @Test func `no target of the product depends on one, and no product is made of one`() throws {
    let manifest = try Manifest(String(decoding: readFile("\(packageFolder())/Package.swift"), as: UTF8.self))
    #expect(manifest.products.count >= 6)
    // Nothing of Sources is forgotten.
    let own = layers.filter { $0.value > .cLibrary && $0.value != .adapterSource }.keys
    #expect(Set(manifest.targets.keys).isSuperset(of: own))
    for (target, dependencies) in manifest.targets {
      let rooms = dependencies.intersection(testRooms)
      #expect(rooms.isEmpty, "\(target) depends on \(rooms)")
    }
    #expect(manifest.products.isDisjoint(with: testRooms))
  }

  @Test func `the manifest's reader sees a dependency`() {
    let manifest = Manifest(
      """
        products: [
          .library(name: "Kit", targets: ["Kit", "TestSupport"]),
        ],
        targets: [
          // Layer 0.
          tool("Kit", ["Other"]),
          program(
            "serve",
            ["Kit",
             "StorageFaults"]),
          // Tests: one folder per target.
          .target(name: "TestSupport"),
      """)
    #expect(manifest.products == ["Kit", "TestSupport"])
    #expect(manifest.targets == ["Kit": ["Other"], "serve": ["Kit", "StorageFaults"]])
  }

  @Test func `no release has a switch for a test`() throws {
    // Faults come through the file layer of Tests/StorageFaults.
    let words = ["sabotage", "Sabotage", "isTesting", "isBenchmark", "underTest"]
    for file in try swiftFiles(below: "Sources") {
      for line in file.lines {
        #expect(words.allSatisfy { !line.contains($0) }, "\(file.path): \(line)")
      }
    }
  }
}

/// Targets and products as Package.swift names them.
private struct Manifest {
  /// Each target of the product with what it depends on.
  var targets: [String: Set<String>] = [:]
  /// The targets that products are made of.
  var products: Set<String> = []

  init(_ text: String) {
    let lines = text.split(separator: "\n")
    let productLines = lines.prefix { !$0.contains("targets: [") || $0.contains("name:") }
      .drop { !$0.contains("products: [") }
    for line in productLines {
      guard let list = line.firstRange(of: "targets: [") else { continue }
      products.formUnion(quoted(line[list.upperBound...]))
    }
    // From the layers on, up to where the tests begin, each `tool(`, `adapter(` or `program(` is one target of the
    // product.
    var current = ""
    for line in lines.drop(while: { !$0.contains("Layer 0") }).prefix(while: { !$0.contains("// Tests:") }) {
      let text = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
      if ["tool(", "adapter(", "program("].contains(where: text.contains) { note(current); current = "" }
      current += text
    }
    note(current)
  }

  private mutating func note(_ declaration: String) {
    var names = quoted(declaration[...])
    guard !names.isEmpty else { return }
    let name = names.removeFirst()
    targets[name] = Set(names)
  }
}

private func quoted(_ text: Substring) -> [String] {
  text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    .compactMap { $0.offset.isMultiple(of: 2) ? nil : String($0.element) }
}
