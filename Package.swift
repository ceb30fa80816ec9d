// swift-tools-version: 6.2
// Regent: the service, the device agent, the companion CLI and two libraries. The layers and who may
// import whom are in docs/decisions/0001-layers.md and proven by Tests/ArchitectureTests.

import Foundation
import PackageDescription

// A missing C library would show up as a page of compiler errors; one sentence is kinder.
let systemHeaders: [(package: String, header: String)] = [
  ("libsqlite3-dev", "sqlite3.h"),
  ("libssl-dev", "openssl/ssl.h"),
  ("libqrencode-dev", "qrencode.h"),
  ("libcurl4-openssl-dev", "curl/curl.h"),
  ("libargon2-dev", "argon2.h"),
  ("libexpat1-dev", "expat.h"),
]
let headerFolders = [
  "/usr/include", "/usr/include/x86_64-linux-gnu", "/usr/include/aarch64-linux-gnu",
]
let missing = systemHeaders.filter { entry in
  !headerFolders.contains { FileManager.default.fileExists(atPath: "\($0)/\(entry.header)") }
}
if !missing.isEmpty {
  let names = missing.map(\.package).joined(separator: " ")
  let sentence =
    "Regent needs the Debian packages \(names): run deploy/bootstrap (or `make build`) first.\n"
  FileHandle.standardError.write(Data(sentence.utf8))
  exit(1)
}

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

func tool(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: house)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: house)
}

func tests(
  of name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .testTarget(
    name: "\(name)Tests",
    dependencies: [.byName(name: name), "TestSupport"] + dependencies,
    exclude: exclude, swiftSettings: house)
}

let package = Package(
  name: "regent",
  products: [
    .executable(name: "regentd", targets: ["regentd"]),
    .executable(name: "regent", targets: ["regent"]),
    .executable(name: "regentctl", targets: ["regentctl"]),
    .library(name: "AccessEnabler", targets: ["AccessEnabler"]),
    .library(name: "MediaTokenVerifier", targets: ["MediaTokenVerifier"]),
    // For programs that are not in Swift: libMediaToken.so and the header in docs/examples/verify-media-token.
    .library(name: "MediaToken", type: .dynamic, targets: ["MediaTokenC"]),
  ],
  targets: [
    // C libraries: module map and shim header, nothing else.
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    // No pkg-config name: libcurl is loaded at run time, only when an https URL is used.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CLinux"),

    // Layer 0, ground floor: what several tools share.
    tool("JSON"),
    tool("HTTPCodec"),
    tool("Platform", ["CLinux"]),

    // Layer 0: tools. They know no pairing word and never import one another.
    tool("SQLite", ["CSQLite", "Platform"]),
    tool("Cryptography", ["COpenSSL", "CArgon2", "JSON", "Platform"]),
    tool("QRCode", ["CQREncode"]),
    tool("HTTPServer", ["HTTPCodec", "Platform", "COpenSSL", "CLinux"]),
    tool("HTTPClient", ["HTTPCodec", "Platform", "CCurl", "CLinux"]),
    tool("CommandKit", ["HTTPCodec", "JSON", "Platform"]),
    tool("XML", ["CExpat"]),

    // Layer 1: rules. No I/O, no clock.
    tool("Pairing"),

    // Layer 2: contracts.
    tool("PairingStore", ["Pairing"]),
    tool("PairingWire", ["Pairing", "JSON"]),
    tool("Administration", ["Pairing", "JSON", "HTTPClient", "HTTPCodec"]),

    // Layer 3: adapters.
    tool(
      "PairingStoreSQLite",
      ["Pairing", "PairingStore", "SQLite", "Cryptography", "JSON", "Platform"]),

    // Libraries: what other people's programs link.
    tool(
      "AccessEnabler",
      ["Pairing", "PairingWire", "HTTPClient", "HTTPCodec", "JSON", "Platform", "Cryptography"]),
    tool(
      "MediaTokenVerifier",
      ["Pairing", "PairingWire", "HTTPClient", "HTTPCodec", "JSON", "Platform", "Cryptography"]),

    tool("MediaTokenC", ["MediaTokenVerifier", "Pairing"]),

    // Layer 4: use cases.
    tool(
      "PairingService",
      [
        "Pairing", "PairingStore", "PairingWire", "Administration", "HTTPServer", "HTTPCodec",
        "JSON",
        "Platform", "Cryptography", "XML",
      ]),
    tool(
      "DeviceAgent",
      [
        "AccessEnabler", "MediaTokenVerifier", "Pairing", "PairingWire", "QRCode", "CommandKit",
        "HTTPServer", "HTTPClient", "HTTPCodec", "JSON", "Platform", "Cryptography",
      ]),

    // Layer 5: programs.
    program(
      "regentd",
      [
        "CommandKit", "HTTPServer", "HTTPCodec", "JSON", "Platform", "Pairing", "PairingStore",
        "PairingStoreSQLite", "PairingService", "Administration", "Cryptography", "SQLite",
      ]),
    program("regent", ["DeviceAgent", "AccessEnabler", "CommandKit", "JSON", "Platform"]),
    program(
      "regentctl",
      ["Administration", "CommandKit", "HTTPClient", "HTTPCodec", "JSON", "Platform", "Pairing"]),

    // Tests: one folder per target, and what they share.
    .target(
      name: "TestSupport", dependencies: ["CLinux"], path: "Tests/TestSupport",
      swiftSettings: house),
    .target(
      name: "HTTPTestSupport", dependencies: ["HTTPServer", "HTTPCodec", "Platform"],
      path: "Tests/HTTPTestSupport", swiftSettings: house),
    .target(
      name: "ServiceTestSupport",
      dependencies: [
        "Pairing", "PairingStore", "PairingWire", "PairingService", "HTTPServer", "HTTPTestSupport",
        "Cryptography", "JSON", "Platform", "TestSupport",
      ],
      path: "Tests/ServiceTestSupport", swiftSettings: house),
    .target(
      name: "RegentdTestSupport",
      dependencies: [
        "Administration", "HTTPClient", "Pairing", "Platform", "ServiceTestSupport", "TestSupport",
      ],
      path: "Tests/RegentdTestSupport", swiftSettings: house),
    .target(
      name: "StorageFaults", dependencies: ["CSQLite", "SQLite"], path: "Tests/StorageFaults",
      swiftSettings: house),
    .executableTarget(
      name: "Soak", dependencies: ["SQLite", "StorageFaults", "TestSupport"], path: "Tests/Soak",
      swiftSettings: house),
    .executableTarget(
      name: "ServiceSoak",
      dependencies: [
        "Administration", "Cryptography", "HTTPClient", "HTTPCodec", "JSON", "Pairing",
        "PairingWire", "Platform", "TestSupport", "regentd", "regentctl",
      ], path: "Tests/ServiceSoak", swiftSettings: house),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "SQLite", "TestSupport", "HTTPServer", "HTTPCodec", "Pairing", "PairingStore",
        "PairingWire",
        "PairingStoreSQLite", "PairingService", "Cryptography", "Platform", "MediaTokenVerifier",
        "JSON", "regentd", "regentctl",
      ],
      path: "Tests/Benchmarks", exclude: ["reference"],
      swiftSettings: house),
    .executableTarget(
      name: "PagePreview", dependencies: ["Pairing", "PairingService"], path: "Tests/PagePreview",
      swiftSettings: house),
    tests(of: "JSON"),
    tests(of: "HTTPCodec", ["HTTPTestSupport"]),
    // What a test can only see in a process of its own: signals, a terminal's rescue.
    .executableTarget(
      name: "PlatformProbe", dependencies: ["Platform"], path: "Tests/PlatformProbe",
      swiftSettings: house),
    tests(of: "Platform", ["PlatformProbe"]),
    tests(of: "SQLite", ["CSQLite", "Platform", "StorageFaults", "Soak"]),
    tests(of: "Cryptography"),
    tests(of: "QRCode"),
    tests(of: "HTTPServer", ["HTTPCodec", "Platform", "HTTPTestSupport"]),
    tests(of: "HTTPClient", ["HTTPCodec", "HTTPServer", "Platform"]),
    tests(of: "CommandKit", ["JSON", "Platform"]),
    tests(of: "XML"),
    tests(of: "Pairing"),
    tests(of: "PairingStore", ["Pairing"]),
    tests(of: "PairingWire", ["Pairing"]),
    tests(
      of: "PairingStoreSQLite",
      ["Pairing", "PairingStore", "SQLite", "Cryptography", "StorageFaults"]),
    .testTarget(
      name: "StoreConformanceTests",
      dependencies: [
        "Pairing", "PairingStore", "PairingStoreSQLite", "Cryptography", "SQLite", "StorageFaults",
        "TestSupport",
      ],
      swiftSettings: house),
    .testTarget(
      name: "CommandTests",
      dependencies: ["CommandKit", "TestSupport", "ServiceSoak", "regentd", "regentctl"],
      exclude: ["Scripts"],
      swiftSettings: house),
    tests(of: "PairingService", ["Pairing", "JSON", "Platform", "PagePreview"]),
    tests(
      of: "Administration",
      ["Pairing", "JSON", "HTTPServer", "HTTPClient", "HTTPCodec", "HTTPTestSupport", "Platform"]),
    // What the libraries of boxes must show in a process of their own: how it ends, how much memory it takes.
    .executableTarget(
      name: "SDKProbe",
      dependencies: [
        "AccessEnabler", "Administration", "Cryptography", "HTTPClient", "HTTPCodec", "Pairing",
        "HTTPTestSupport", "Platform", "RegentdTestSupport", "ServiceTestSupport", "TestSupport",
      ],
      path: "Tests/SDKProbe", swiftSettings: house),
    tests(
      of: "AccessEnabler",
      [
        "Administration", "RegentdTestSupport", "SDKProbe", "Pairing", "PairingStore",
        "PairingWire", "PairingService", "MediaTokenVerifier",
        "HTTPServer", "HTTPClient", "HTTPCodec", "JSON", "Platform", "Cryptography",
        "HTTPTestSupport", "ServiceTestSupport", "PlayerExample", "regentd", "regentctl",
      ],
      exclude: ["Machine/every-pair.txt"]),
    // The example of docs/examples/player, built with the tests so that it never stops compiling.
    .target(
      name: "PlayerExample", dependencies: ["AccessEnabler"],
      path: "docs/examples/player", exclude: ["README.md"], swiftSettings: house),
    tests(
      of: "MediaTokenVerifier",
      [
        "MediaTokenC", "Pairing", "PairingWire", "HTTPServer", "HTTPCodec", "HTTPClient",
        "HTTPTestSupport", "JSON", "Cryptography", "Platform",
      ]),
    tests(
      of: "DeviceAgent",
      [
        "AccessEnabler", "CommandKit", "QRCode", "JSON", "Platform", "HTTPServer", "HTTPCodec",
        "HTTPTestSupport", "ServiceTestSupport", "PairingService", "PairingStore", "Pairing",
        "Cryptography", "regent",
      ]),
    .testTarget(
      name: "JourneyTests",
      dependencies: [
        "Pairing", "PairingStore", "PairingStoreSQLite", "PairingWire", "PairingService",
        "Administration", "HTTPServer", "HTTPClient", "HTTPCodec", "JSON", "Cryptography",
        "Platform", "XML", "SQLite", "StorageFaults", "TestSupport", "HTTPTestSupport",
        "ServiceSoak", "ServiceTestSupport",
      ],
      swiftSettings: house),
    .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: house),
  ],
  swiftLanguageModes: [.v6]
)

// Fuzz targets need -sanitize=fuzzer in the whole build, so Tests/Fuzz/run asks for them with REGENT_FUZZ=1 and
// builds them in a folder of their own; a normal build never sees them.
if Context.environment["REGENT_FUZZ"] == "1" {
  func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies + ["FuzzSupport"], path: "Tests/Fuzz/\(name)",
      swiftSettings: house)
  }
  package.targets += [
    .target(name: "FuzzSupport", path: "Tests/Fuzz/FuzzSupport", swiftSettings: house),
    fuzzer("FuzzJSON", ["JSON"]),
    fuzzer("FuzzRequests", ["HTTPCodec"]),
    fuzzer("FuzzChunks", ["HTTPCodec"]),
    fuzzer("FuzzForms", ["HTTPCodec"]),
    fuzzer("FuzzURLs", ["HTTPCodec"]),
    fuzzer("FuzzHeaders", ["HTTPCodec", "HTTPServer"]),
    fuzzer("FuzzResponses", ["HTTPClient", "HTTPCodec"]),
    fuzzer("FuzzRoutes", ["HTTPCodec", "HTTPServer"]),
    fuzzer("FuzzText", ["Cryptography"]),
    fuzzer("FuzzPEM", ["Cryptography"]),
    fuzzer("FuzzTokens", ["Cryptography", "JSON"]),
    fuzzer("FuzzXML", ["XML"]),
    fuzzer("FuzzWire", ["Pairing", "PairingWire"]),
  ]
}
