import FoundationEssentials
import TestSupport
import Testing

@Suite("Architecture rules")
struct ArchitectureTests {
  @Test func `every target belongs to a layer`() throws {
    let unknown = try folders(below: "Sources").filter { layers[$0] == nil }
    #expect(unknown.isEmpty, "give these a layer in Layers.swift")
  }

  @Test func `a target imports only lower layers`() throws {
    for file in try swiftFiles(below: "Sources") {
      let own = try #require(layers[file.target], "\(file.path)")
      for module in importedModules(file) {
        guard let other = layers[module] else {
          #expect(
            mayImport(file.target, toolchainModule: module), "\(file.path) imports \(module)")
          continue
        }
        #expect(other < own, "\(file.path) imports \(module), which is not below it")
        // C types stay inside of the tools. The layers above use Swift types only.
        #expect(other != .cLibrary || own <= .compoundTool, "\(file.path) imports the C module \(module)")
      }
    }
  }

  @Test func `imports that the design forbids do not occur`() throws {
    for file in try swiftFiles(below: "Sources") {
      for rule in forbiddenImports where rule.target == file.target {
        #expect(!importedModules(file).contains(rule.module), "\(file.path): \(rule.reason)")
      }
    }
  }

  @Test func `each store adapter compiles the shared row sources`() throws {
    for (target, layer) in layers where layer == .adapter {
      let shared = try filesBelow("Sources/PairingStoreRows").filter { $0.hasSuffix(".swift") }
      let link = "\(packageFolder())/Sources/\(target)/PairingStoreRows"
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "../PairingStoreRows", "\(link)")
      #expect(shared.count > 30)
    }
  }

  @Test func `the import parser recognises every form of import`() {
    let text = """
      public import One
      @preconcurrency internal import Two
      import struct Three.Four
      // import Five
      let important = "import Six"
      """
    let file = SourceFile(path: "x.swift", target: "x", lines: text.split(separator: "\n"))
    #expect(importedModules(file) == ["One", "Two", "Three"])
  }

  @Test func `every target opens with a comment that says what it is for`() throws {
    for target in try folders(below: "Sources") where layers[target] != .cLibrary {
      let files = try swiftFiles(below: "Sources/\(target)")
      let opening = files.first { $0.name == "\(target).swift" || $0.name == "main.swift" }
      let comment = try #require(opening, "\(target) has no \(target).swift").lines
        .prefix { $0.hasPrefix("//") }
      #expect(comment.count >= 2, "\(target): two lines of leading comment at least")
      #expect(comment.first?.hasPrefix("// \(target): ") == true, "\(target): begin with its name")
    }
  }

  @Test(arguments: ["Sources", "Tests"])
  func `a file with more than 400 lines gives a reason`(top: String) throws {
    for file in try swiftFiles(below: top) where file.lines.count > 400 {
      let excuse = file.lines.prefix(12).contains { $0.contains("This file is long because") }
      #expect(excuse, "\(file.path) has \(file.lines.count) lines")
    }
  }

  @Test func `unsafe code occurs only in targets of the tool layers and in listed exceptions`() throws {
    for file in try swiftFiles(below: "Sources") {
      let layer = try #require(layers[file.target])
      guard layer > .compoundTool, pointerTargets[file.target] == nil else { continue }
      for line in file.codeLines {
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "@") }
        #expect(!words.contains("unsafe") && !words.contains("@unsafe"), "\(file.path): \(line)")
      }
    }
  }

  @Test func `every unchecked Sendable has numbered reasons`() throws {
    for file in try swiftFiles(below: "Sources") {
      for (number, line) in file.codeLines.enumerated() where line.contains("@unchecked Sendable") {
        let around = file.lines[max(0, number - 20)...min(number + 6, file.lines.count - 1)]
        let reasoned = around.contains { $0.contains("1. ") || $0.contains("(1) ") }
        #expect(reasoned, "\(file.path):\(number + 1)")
      }
    }
  }

  @Test func `a C target consists of a module map and a shim`() throws {
    for target in try folders(below: "Sources") where layers[target] == .cLibrary {
      #expect(try entries(of: "Sources/\(target)") == ["module.modulemap", "shim.h"], "\(target)")
    }
  }

  @Test func `errno, thread creation, epoll and socket addresses are each used in one file only`() throws {
    let owners = [
      "errno": "RegentPlatform/SystemCall.swift", "pthread_create": "RegentPlatform/DedicatedThread.swift",
      "epoll_create1": "RegentPlatform/Poller.swift", "sockaddr_storage": "RegentPlatform/SocketAddress.swift",
    ]
    for file in try swiftFiles(below: "Sources") {
      for line in file.codeLines {
        for word in line.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") }) {
          guard let owner = owners[String(word)] else { continue }
          #expect(file.path == "Sources/\(owner)", "\(file.path) says \(word), which \(owner) does")
        }
      }
    }
  }

  @Test func `no source uses try! or as!`() throws {
    for file in try swiftFiles(below: "Sources") {
      for line in file.codeLines {
        #expect(!line.contains("try!") && !line.contains(" as! "), "\(file.path): \(line)")
      }
    }
  }

  @Test func `every target has a test target`() throws {
    let tests = try folders(below: "Tests")
    for target in try folders(below: "Sources") {
      guard let layer = layers[target], layer > .cLibrary, layer < .program, layer != .adapterSource else { continue }
      #expect(tests.contains("\(target)Tests"), "Tests/\(target)Tests is missing")
    }
  }

  @Test func `the package folder holds only the agreed entries`() throws {
    let allowed: Set = [
      "Package.swift", "Makefile", "README.md", "CHANGELOG.md", "LICENSE", "Sources", "Tests",
      "web", "deploy", "docs",
    ]
    let visible = try entries(of: ".").filter { !$0.hasPrefix(".") }
    #expect(visible.subtracting(allowed).isEmpty)
  }
}
