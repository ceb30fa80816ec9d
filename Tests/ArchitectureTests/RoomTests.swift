import FoundationEssentials
import TestSupport
import Testing

/// Test support is in Tests/ only, and no shipped target knows it.
@Suite("Test support stays out of the product")
struct RoomTests {
  @Test func `every shared test target exists in Tests and only there`() throws {
    let (tests, sources) = (try folders(below: "Tests"), try folders(below: "Sources"))
    #expect(try roomsForTests().subtracting(testRooms).sorted() == [], "testRooms in Layers.swift")
    for room in testRooms {
      #expect(tests.contains(room), "Tests/\(room)")
      #expect(!sources.contains(room) && layers[room] == nil, "\(room) is for tests only")
    }
  }

  @Test func `no file of the product imports a test target`() throws {
    for file in try swiftFiles(below: "Sources") {
      for module in importedModules(file) {
        #expect(!testRooms.contains(module), "\(file.path) imports \(module)")
        #expect(!module.hasSuffix("Tests") && module != "Testing" && module != "XCTest", "\(file.path)")
      }
    }
  }

  /// Reads the manifest as text, because only the package manager can evaluate it.
  @Test func `no target or product of the package depends on a test target`() throws {
    let manifest = try Manifest(String(decoding: readFile("\(packageFolder())/Package.swift"), as: UTF8.self))
    #expect(manifest.products.count >= 6)
    // All targets of Sources were found.
    let own = layers.filter { $0.value > .cLibrary && $0.value != .adapterSource }.keys
    #expect(Set(manifest.targets.keys).isSuperset(of: own))
    for (target, dependencies) in manifest.targets {
      let rooms = dependencies.intersection(testRooms)
      #expect(rooms.isEmpty, "\(target) depends on \(rooms)")
    }
    #expect(manifest.products.isDisjoint(with: testRooms))
  }

  @Test func `the manifest parser recognises dependencies and products`() {
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

  @Test func `no source of a release has a switch for tests`() throws {
    // Tests inject faults through the file layer in Tests/StorageFaults.
    let words = ["sabotage", "Sabotage", "isTesting", "isBenchmark", "underTest"]
    for file in try swiftFiles(below: "Sources") {
      for line in file.lines {
        #expect(words.allSatisfy { !line.contains($0) }, "\(file.path): \(line)")
      }
    }
  }
}

/// The targets and products of Package.swift.
private struct Manifest {
  /// The dependencies of each target of the product.
  var targets: [String: Set<String>] = [:]
  /// The targets that are part of a product.
  var products: Set<String> = []

  init(_ text: String) {
    let lines = text.split(separator: "\n")
    let productLines = lines.prefix { !$0.contains("targets: [") || $0.contains("name:") }
      .drop { !$0.contains("products: [") }
    for line in productLines {
      guard let list = line.firstRange(of: "targets: [") else { continue }
      products.formUnion(quoted(line[list.upperBound...]))
    }
    // Between the layers and the tests of the manifest, each `tool(`, `adapter(` or `program(` declares one target of
    // the product.
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
