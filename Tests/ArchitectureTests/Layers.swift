// The architecture rules as data: which targets may import which, and which folders exist. The tests beside this file
// check the sources against them. docs/decisions/0001-layers.md gives the reasons.

import FoundationEssentials
import TestSupport

/// The layers, from the bottom up.
///
/// A target may import only from layers below its own.
enum Layer: Int, Comparable {
  case cLibrary, texts, ground, tool, compoundTool, rules, contract, adapterSource, adapter, library, useCase, program

  static func < (one: Layer, other: Layer) -> Bool { one.rawValue < other.rawValue }
}

let layers: [String: Layer] = [
  "CSQLite": .cLibrary, "CRegentOpenSSL": .cLibrary, "CQREncode": .cLibrary, "CRegentCurl": .cLibrary,
  "CPostgreSQL": .cLibrary, "CArgon2": .cLibrary, "CCrypt": .cLibrary, "CExpat": .cLibrary, "CRegentLinux": .cLibrary,
  "RegentEncodings": .texts, "RegentJSON": .ground, "RegentHTTPCodec": .ground, "RegentPlatform": .ground,
  "RegentSQL": .ground,
  "SQLite": .tool, "PostgreSQL": .tool, "RegentCryptography": .tool, "QRCode": .tool, "HTTPServer": .tool,
  "RegentHTTPClient": .tool, "CommandKit": .tool, "XML": .tool,
  "PasswordHashing": .compoundTool,
  "RegentPairing": .rules,
  "PairingStore": .contract, "RegentPairingWire": .contract, "RegentOAuth": .contract,
  "Administration": .contract,
  // No target of its own: each adapter compiles these sources, so they must not know its database.
  "PairingStoreRows": .adapterSource,
  "PairingStoreSQLite": .adapter, "PairingStorePostgreSQL": .adapter,
  "AccessEnabler": .library, "MediaTokenVerifier": .library,
  "PairingService": .useCase, "DeviceAgent": .useCase,
  "regentd": .program, "regent": .program, "regentctl": .program, "MediaTokenC": .program,
]

/// Targets in `Tests/` that are only for tests.
///
/// No target of `Sources/` and no product may contain them.
let testRooms: Set = [
  "TestSupport", "HTTPTestSupport", "ServiceTestSupport", "RegentdTestSupport", "StorageFaults", "PairingStoreMemory",
  "PostgreSQLTestSupport", "PostgreSQLStoreTestSupport",
  "StoreConformance", "PlatformProbe", "SDKProbe", "PagePreview", "Soak", "ServiceSoak", "Benchmarks",
  "Scale", "ScaleModel", "SequenceFuzz",
]

/// Imports that the layers allow and the design forbids, with the reason.
let forbiddenImports: [(target: String, module: String, reason: String)] = [
  ("PairingService", "PairingStoreSQLite", "the service must run on any store"),
  ("PairingService", "PairingStorePostgreSQL", "the service must run on any store"),
  ("PairingStoreRows", "SQLite", "the verbs run on any database"),
  ("PairingStoreRows", "PostgreSQL", "the verbs run on any database"),
]

/// Targets above the tools that may handle pointers, with the reason.
let pointerTargets: [String: String] = [
  "MediaTokenC": "programs in C call it, and they pass pointers; docs/decisions/0008-c-interface.md"
]

/// Whether a target may import a module of the toolchain.
///
/// Modules that are not listed are refused.
func mayImport(_ target: String, toolchainModule module: String) -> Bool {
  guard let layer = layers[target] else { return false }
  // The pairing rules are pure functions without a clock, input or output, so they import nothing.
  if layer == .rules { return false }
  switch module {
  case "Synchronization": return true
  case "Glibc": return layer <= .compoundTool || layer == .program
  // Full Foundation costs 44 MB and 15 ms at start. FoundationEssentials costs less, but some targets do without it,
  // too.
  case "FoundationEssentials":
    return !["HTTPServer", "RegentEncodings", "RegentHTTPCodec", "RegentJSON"].contains(target)
  // Only RegentPlatform, which replaces libdispatch, needs this module. Its stable parts need no import.
  case "_Concurrency": return target == "RegentPlatform"
  default: return false
  }
}

struct SourceFile {
  let path: String
  let target: String
  let lines: [Substring]

  var name: Substring { path.split(separator: "/").last ?? "" }

  /// The lines without comments, so that a word in a comment does not count as its use.
  var codeLines: [Substring] {
    lines.map { line in
      guard let comment = line.firstRange(of: "//") else { return line }
      return line[..<comment.lowerBound]
    }
  }
}

private let packagePath = packageFolder()

/// All Swift files below a top-level folder of the package.
func swiftFiles(below top: String) throws -> [SourceFile] {
  let paths = try FileManager.default.subpathsOfDirectory(atPath: "\(packagePath)/\(top)")
  return try paths.filter { $0.hasSuffix(".swift") && !$0.contains("/.build/") }.sorted().map {
    path in
    let text = String(decoding: try readFile("\(packagePath)/\(top)/\(path)"), as: UTF8.self)
    return SourceFile(
      path: "\(top)/\(path)", target: String(path.split(separator: "/").first ?? ""),
      lines: text.split(separator: "\n", omittingEmptySubsequences: false))
  }
}

/// The text of a file of the package.
func text(_ path: String) throws -> String {
  String(decoding: try readFile("\(packagePath)/\(path)"), as: UTF8.self)
}

/// The code spans of a Markdown page, outside of code blocks.
func codeSpans(_ page: String) -> [Substring] {
  var isBlock = false
  var spans: [Substring] = []
  for line in page.split(separator: "\n") {
    if line.hasPrefix("```") {
      isBlock.toggle()
    } else if !isBlock {
      let pieces = line.split(separator: "`", omittingEmptySubsequences: false)
      spans += pieces.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }
  }
  return spans
}

/// The paths of all files and folders below a top-level folder, relative to the package.
func filesBelow(_ top: String) throws -> [String] {
  try FileManager.default.subpathsOfDirectory(atPath: "\(packagePath)/\(top)").map { "\(top)/\($0)" }.sorted()
}

/// The folders directly below a top-level folder.
func folders(below top: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: "\(packagePath)/\(top)")
    .filter { !$0.contains(".") }.sorted()
}

/// The folders of `Tests` without tests: shared test code and programs.
func roomsForTests() throws -> Set<String> {
  Set(try swiftFiles(below: "Tests").map(\.target)).filter { !$0.hasSuffix("Tests") && $0 != "Fuzz" }
}

func entries(of folder: String) throws -> Set<String> {
  Set(try FileManager.default.contentsOfDirectory(atPath: "\(packagePath)/\(folder)"))
}

func importedModules(_ file: SourceFile) -> [String] {
  file.codeLines.compactMap { line in
    let words = line.split(separator: " ")
    guard let position = words.firstIndex(of: "import"),
      words[..<position].allSatisfy({ importModifiers.contains($0) }), position + 1 < words.count
    else { return nil }
    // `import struct A.B` names a declaration; the module is the part before the dot.
    let name = words[words.count - 1]
    return name.split(separator: ".").first.map(String.init)
  }
}

private let importModifiers: Set<Substring> = [
  "public", "package", "internal", "fileprivate", "private", "@testable", "@preconcurrency", "@_exported",
]
