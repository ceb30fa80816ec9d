// swift-tools-version: 6.2
// Regent: the service, the device agent, the operator's command line and two libraries. docs/decisions/0001-layers.md
// describes the layers and which target may import which; Tests/ArchitectureTests checks it. The file is long because
// SwiftPM reads no other manifest.

import PackageDescription

let common: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]
let house = common + [.enableUpcomingFeature("MemberImportVisibility")]
// REGENT_EXECUTOR=swift leaves Swift's own executor in place. RegentPlatform/TaskThreads otherwise replaces it.
let executor: [SwiftSetting] = Context.environment["REGENT_EXECUTOR"] == "swift" ? [.define("SWIFT_EXECUTOR")] : []

func tool(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: house + executor)
}

/// A target that compiles the sources of PairingStoreRows together with its own.
///
/// The shared sources import no database module. So the target is built without MemberImportVisibility, which would
/// require that import in each of these files.
func adapter(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: common)
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
    // For programs in other languages: libMediaToken.so, with the header in docs/examples/verify-media-token.
    .library(name: "MediaToken", type: .dynamic, targets: ["MediaTokenC"]),
  ],
  targets: [
    // C libraries: a module map and a shim header each. If a library is missing, its shim names the Debian package
    // when a target that needs it is built. An app that links the SDK needs libssl-dev and libcurl4-openssl-dev.
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CRegentOpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    // No pkg-config name, because libcurl is loaded at run time, and only when an https URL is used.
    .systemLibrary(name: "CRegentCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    // No pkg-config name either: libpq is loaded only when the database is PostgreSQL.
    .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
    .systemLibrary(name: "CCrypt", pkgConfig: "libxcrypt", providers: [.apt(["libcrypt-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CRegentLinux"),

    // Layer 0, base: code that several tools share.
    tool("RegentEncodings"),
    tool("RegentJSON", ["RegentEncodings"]),
    tool("RegentHTTPCodec", ["RegentEncodings"]),
    tool("RegentPlatform", ["CRegentLinux"]),
    tool("RegentSQL"),

    // Layer 0: tools. They contain nothing about pairing and never import each other.
    tool("SQLite", ["CSQLite", "RegentPlatform", "RegentSQL"]),
    tool("PostgreSQL", ["CPostgreSQL", "RegentHTTPCodec", "RegentPlatform", "RegentSQL"]),
    tool("RegentCryptography", ["CRegentOpenSSL", "RegentEncodings", "RegentJSON"]),
    tool("QRCode", ["CQREncode", "RegentPlatform"]),
    tool(
      "HTTPServer", ["RegentEncodings", "RegentHTTPCodec", "RegentPlatform", "CRegentOpenSSL", "CRegentLinux"]),
    tool("RegentHTTPClient", ["RegentHTTPCodec", "RegentPlatform", "CRegentCurl", "CRegentLinux"]),
    tool("CommandKit", ["RegentHTTPCodec", "RegentJSON", "RegentPlatform"]),
    tool("XML", ["CExpat", "RegentEncodings"]),

    // Layer 0: a tool that combines others. It is separate, so that a target with RegentCryptography links neither
    // libargon2 nor libcrypt.
    tool(
      "PasswordHashing",
      ["CArgon2", "CCrypt", "RegentCryptography", "RegentEncodings", "RegentPlatform"]),

    // Layer 1: rules. No I/O, no clock.
    tool("RegentPairing"),

    // Layer 2: contracts.
    tool("PairingStore", ["RegentPairing", "RegentCryptography", "RegentEncodings"]),
    tool("RegentPairingWire", ["RegentPairing", "RegentEncodings", "RegentJSON"]),
    tool(
      "RegentOAuth", ["RegentPairing", "RegentCryptography", "RegentEncodings", "RegentHTTPCodec", "RegentJSON"]),
    tool("Administration", ["RegentPairing", "RegentJSON", "RegentHTTPClient", "RegentHTTPCodec"]),

    // Layer 3: adapters.
    adapter(
      "PairingStoreSQLite",
      [
        "RegentPairing", "PairingStore", "SQLite", "RegentCryptography", "RegentEncodings", "RegentJSON",
        "RegentPlatform", "RegentSQL",
      ]),
    adapter(
      "PairingStorePostgreSQL",
      [
        "RegentPairing", "PairingStore", "PostgreSQL", "RegentCryptography", "RegentEncodings", "RegentJSON",
        "RegentPlatform", "RegentSQL",
      ]),

    // Libraries for other people's programs.
    tool(
      "AccessEnabler",
      [
        "RegentPairing", "RegentPairingWire", "RegentHTTPClient", "RegentHTTPCodec", "RegentJSON", "RegentPlatform",
        "RegentCryptography", "RegentEncodings",
      ]),
    tool(
      "MediaTokenVerifier",
      [
        "RegentPairing", "RegentPairingWire", "RegentHTTPClient", "RegentHTTPCodec", "RegentJSON", "RegentPlatform",
        "RegentCryptography",
      ]),

    tool("MediaTokenC", ["MediaTokenVerifier", "RegentPairing"]),

    // Layer 4: use cases.
    tool(
      "PairingService",
      [
        "RegentPairing", "PairingStore", "RegentPairingWire", "RegentOAuth", "Administration", "HTTPServer",
        "RegentHTTPCodec", "RegentJSON", "RegentPlatform", "PasswordHashing", "RegentCryptography", "RegentEncodings",
        "XML",
      ]),
    tool(
      "DeviceAgent",
      [
        "AccessEnabler", "MediaTokenVerifier", "RegentPairing", "RegentPairingWire", "RegentOAuth", "QRCode",
        "CommandKit", "HTTPServer", "RegentHTTPClient", "RegentHTTPCodec", "RegentJSON", "RegentPlatform",
        "RegentCryptography", "RegentEncodings",
      ]),

    // Layer 5: programs.
    program(
      "regentd",
      [
        "CommandKit", "HTTPServer", "RegentHTTPCodec", "RegentJSON", "RegentPlatform", "RegentPairing", "PairingStore",
        "PairingStorePostgreSQL", "PairingStoreSQLite", "PairingService", "Administration", "RegentCryptography",
        "RegentEncodings", "RegentSQL", "PostgreSQL", "SQLite",
      ]),
    program(
      "regent", ["DeviceAgent", "AccessEnabler", "CommandKit", "RegentJSON", "RegentPairing", "RegentPlatform"]),
    program(
      "regentctl",
      [
        "Administration", "CommandKit", "QRCode", "RegentHTTPClient", "RegentHTTPCodec", "RegentJSON", "RegentPlatform",
        "RegentPairing",
      ]),

    // Tests: one folder for each target, and shared helpers.
    .target(
      name: "TestSupport", dependencies: ["CRegentLinux"], path: "Tests/TestSupport",
      swiftSettings: house),
    .target(
      name: "PostgreSQLTestSupport", dependencies: ["TestSupport"], path: "Tests/PostgreSQLTestSupport",
      swiftSettings: house),
    .target(
      name: "PostgreSQLStoreTestSupport",
      dependencies: [
        "PairingStorePostgreSQL", "PostgreSQL", "PostgreSQLTestSupport", "RegentCryptography", "RegentPairing",
        "TestSupport",
      ],
      path: "Tests/PostgreSQLStoreTestSupport", swiftSettings: house),
    .target(
      name: "HTTPTestSupport", dependencies: ["HTTPServer", "RegentHTTPCodec", "RegentPlatform", "TestSupport"],
      path: "Tests/HTTPTestSupport", swiftSettings: house),
    // A store in memory, and tests that every store must pass. No program may link them.
    .target(
      name: "PairingStoreMemory", dependencies: ["PairingStore", "RegentPairing"], path: "Tests/PairingStoreMemory",
      swiftSettings: house),
    .target(
      name: "StoreConformance",
      dependencies: [
        "PairingStore", "RegentCryptography", "RegentEncodings", "RegentJSON", "RegentPairing", "RegentSQL",
        "TestSupport",
      ],
      path: "Tests/StoreConformance", swiftSettings: house),
    .target(
      name: "ServiceTestSupport",
      dependencies: [
        "Administration", "RegentPairing", "PairingStore", "PairingStoreMemory", "PairingStoreSQLite",
        "RegentPairingWire", "PairingService", "HTTPServer", "HTTPTestSupport", "PasswordHashing",
        "RegentCryptography", "RegentHTTPCodec", "RegentJSON", "RegentPlatform", "StorageFaults", "TestSupport",
      ],
      path: "Tests/ServiceTestSupport", swiftSettings: house),
    .target(
      name: "RegentdTestSupport",
      dependencies: [
        "Administration", "RegentHTTPClient", "RegentPairing", "RegentPlatform", "ServiceTestSupport", "TestSupport",
      ],
      path: "Tests/RegentdTestSupport", swiftSettings: house),
    .target(
      name: "StorageFaults", dependencies: ["CSQLite", "RegentPlatform", "SQLite"], path: "Tests/StorageFaults",
      swiftSettings: house),
    .executableTarget(
      name: "Soak", dependencies: ["RegentPlatform", "SQLite", "StorageFaults", "TestSupport"], path: "Tests/Soak",
      swiftSettings: house),
    .executableTarget(
      name: "ServiceSoak",
      dependencies: [
        "Administration", "RegentCryptography", "RegentHTTPClient", "RegentHTTPCodec", "RegentJSON", "RegentPairing",
        "RegentPairingWire", "RegentPlatform", "TestSupport", "regentd", "regentctl",
      ], path: "Tests/ServiceSoak", swiftSettings: house),
    .executableTarget(
      name: "SequenceFuzz",
      dependencies: [
        "Administration", "HTTPServer", "HTTPTestSupport", "PairingService", "PairingStore", "PairingStoreMemory",
        "PairingStoreSQLite", "RegentCryptography", "RegentHTTPCodec", "RegentJSON", "RegentPairing",
        "RegentPlatform", "ServiceTestSupport", "StorageFaults", "StoreConformance", "TestSupport",
      ], path: "Tests/SequenceFuzz", swiftSettings: house),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "SQLite", "TestSupport", "HTTPServer", "RegentHTTPCodec", "RegentPairing", "PairingStore",
        "RegentPairingWire",
        "PairingStoreSQLite", "PairingService", "PasswordHashing", "RegentCryptography", "RegentPlatform",
        "MediaTokenVerifier",
        "RegentEncodings", "RegentJSON", "RegentOAuth", "regentd", "regentctl",
      ],
      path: "Tests/Benchmarks", exclude: ["reference"],
      swiftSettings: house),
    .target(name: "ScaleModel", path: "Tests/ScaleModel", swiftSettings: house),
    .executableTarget(
      name: "Scale",
      dependencies: [
        "Administration", "HTTPServer", "PairingService", "PairingStore", "PairingStorePostgreSQL",
        "PairingStoreSQLite", "PasswordHashing", "PostgreSQL", "PostgreSQLTestSupport", "RegentCryptography",
        "RegentEncodings", "RegentHTTPCodec", "RegentJSON", "RegentPairing", "RegentPairingWire", "RegentPlatform",
        "ScaleModel", "TestSupport", "regentd",
      ],
      path: "Tests/Scale", swiftSettings: house),
    .testTarget(name: "ScaleModelTests", dependencies: ["ScaleModel"], swiftSettings: house),
    .executableTarget(
      name: "PagePreview", dependencies: ["RegentOAuth", "RegentPairing", "PairingService"], path: "Tests/PagePreview",
      swiftSettings: house),
    tests(of: "RegentJSON"),
    tests(of: "RegentHTTPCodec", ["HTTPTestSupport"]),
    // Tests of behaviour that needs a separate process: signals, and restoring a terminal.
    .executableTarget(
      name: "PlatformProbe", dependencies: ["RegentPlatform"], path: "Tests/PlatformProbe",
      swiftSettings: house),
    tests(of: "RegentPlatform", ["PlatformProbe"]),
    tests(of: "SQLite", ["CSQLite", "RegentPlatform", "StorageFaults", "Soak"]),
    tests(of: "RegentSQL"),
    tests(of: "PostgreSQL", ["PostgreSQLTestSupport", "RegentPlatform", "RegentSQL"]),
    tests(of: "RegentEncodings"),
    tests(of: "RegentCryptography", ["RegentEncodings"]),
    tests(of: "PasswordHashing", ["RegentCryptography", "RegentEncodings"]),
    tests(of: "QRCode"),
    tests(of: "HTTPServer", ["RegentHTTPCodec", "RegentPlatform", "HTTPTestSupport"]),
    tests(of: "RegentHTTPClient", ["RegentHTTPCodec", "HTTPServer", "RegentPlatform"]),
    tests(of: "CommandKit", ["RegentJSON", "RegentPlatform"]),
    tests(of: "XML"),
    tests(of: "RegentPairing"),
    tests(of: "PairingStore", ["RegentPairing"]),
    tests(of: "RegentPairingWire", ["RegentEncodings", "RegentJSON", "RegentPairing"]),
    tests(
      of: "RegentOAuth", ["RegentPairing", "RegentCryptography", "RegentEncodings", "RegentHTTPCodec", "RegentJSON"]),
    tests(
      of: "PairingStoreSQLite",
      [
        "RegentPairing", "PairingStore", "SQLite", "RegentCryptography", "RegentEncodings", "RegentJSON",
        "StorageFaults", "StoreConformance",
      ]),
    tests(
      of: "PairingStorePostgreSQL",
      [
        "RegentPairing", "PairingStore", "PairingStoreSQLite", "PostgreSQL", "PostgreSQLStoreTestSupport",
        "PostgreSQLTestSupport", "RegentCryptography", "RegentPlatform", "RegentSQL", "StoreConformance",
      ]),
    .testTarget(
      name: "StoreConformanceTests",
      dependencies: [
        "RegentPairing", "PairingStore", "PairingStoreMemory", "PairingStorePostgreSQL", "PairingStoreSQLite",
        "PostgreSQLStoreTestSupport", "RegentCryptography", "SQLite", "ServiceTestSupport", "StorageFaults",
        "StoreConformance", "TestSupport",
      ],
      swiftSettings: house),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "Administration", "CommandKit", "PairingService", "PairingStorePostgreSQL", "PostgreSQLTestSupport",
        "RegentPairing", "TestSupport", "ServiceSoak",
        "regentd",
        "regentctl",
      ],
      exclude: ["Scripts"],
      swiftSettings: house),
    tests(of: "PairingService", ["RegentPairing", "PairingStore", "RegentJSON", "RegentPlatform", "PagePreview"]),
    tests(
      of: "Administration",
      [
        "RegentPairing", "RegentJSON", "HTTPServer", "RegentHTTPClient", "RegentHTTPCodec", "HTTPTestSupport",
        "RegentPlatform",
      ]),
    // Tests of the box libraries that need a separate process: how it exits, and how much memory it uses.
    .executableTarget(
      name: "SDKProbe",
      dependencies: [
        "AccessEnabler", "Administration", "HTTPServer", "RegentCryptography", "RegentHTTPClient", "RegentHTTPCodec",
        "RegentPairing", "HTTPTestSupport", "RegentPlatform", "RegentdTestSupport", "ServiceTestSupport", "TestSupport",
      ],
      path: "Tests/SDKProbe", swiftSettings: house),
    tests(
      of: "AccessEnabler",
      [
        "Administration", "RegentdTestSupport", "SDKProbe", "RegentPairing", "PairingStore",
        "RegentPairingWire", "PairingService", "MediaTokenVerifier",
        "HTTPServer", "RegentHTTPClient", "RegentHTTPCodec", "RegentJSON", "RegentPlatform", "RegentCryptography",
        "HTTPTestSupport", "ServiceTestSupport", "PlayerExample", "regentd", "regentctl",
      ],
      exclude: ["Machine/every-pair.txt", "Machine/platform-account.txt"]),
    // The example in docs/examples/player, built with the tests so that it keeps compiling.
    .target(
      name: "PlayerExample", dependencies: ["AccessEnabler"],
      path: "docs/examples/player", exclude: ["README.md"], swiftSettings: house),
    tests(
      of: "MediaTokenVerifier",
      [
        "MediaTokenC", "RegentPairing", "RegentPairingWire", "HTTPServer", "RegentHTTPCodec", "RegentHTTPClient",
        "HTTPTestSupport", "RegentJSON", "RegentCryptography", "RegentEncodings", "RegentPlatform",
      ]),
    tests(
      of: "DeviceAgent",
      [
        "AccessEnabler", "CommandKit", "QRCode", "RegentJSON", "RegentPlatform", "HTTPServer", "RegentHTTPCodec",
        "HTTPTestSupport", "ServiceTestSupport", "PairingService", "PairingStore", "RegentPairing", "RegentOAuth",
        "RegentCryptography", "PlayerExample", "regent",
      ]),
    .testTarget(
      name: "JourneyTests",
      dependencies: [
        "RegentOAuth", "RegentPairing", "PairingStore", "PairingStoreMemory", "PairingStoreSQLite", "RegentPairingWire",
        "PairingService", "Administration", "HTTPServer", "RegentHTTPClient", "RegentHTTPCodec", "RegentJSON",
        "PasswordHashing", "RegentCryptography", "RegentEncodings", "RegentPlatform", "XML",
        "SQLite", "StorageFaults", "TestSupport", "HTTPTestSupport", "PairingStorePostgreSQL",
        "PostgreSQLStoreTestSupport", "ServiceSoak", "ServiceTestSupport", "StoreConformance",
      ],
      swiftSettings: house),
    .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: house),
  ],
  swiftLanguageModes: [.v6]
)

// As a dependency of another package, this package consists of its two libraries only. Target names must be unique
// among all packages, and an app may have its own target SQLite, XML or TestSupport; SwiftPM also need not look for
// libraries that only the service needs. SwiftPM puts dependencies into a folder named "checkouts", which is
// recognized here. For a dependency by path, set REGENT_LIBRARIES=1.
let libraries: Set = ["AccessEnabler", "MediaTokenVerifier"]
if Context.packageDirectory.contains("/checkouts/") || Context.environment["REGENT_LIBRARIES"] == "1" {
  package.products.removeAll { !libraries.contains($0.name) }
  keep(libraries)
}

// REGENT_TESTS=PairingServiceTests,JourneyTests builds only these test targets and what they need, which saves
// minutes after a change in one layer. `make test` and CI build all of them.
if let chosen = Context.environment["REGENT_TESTS"] {
  keep(Set(chosen.split(separator: ",").map(String.init)).union(["regentd", "regent", "regentctl"]))
  package.products.removeAll { $0.name == "MediaToken" && !package.targets.contains { $0.name == "MediaTokenC" } }
}

/// Removes all targets except these and their dependencies.
@MainActor func keep(_ roots: Set<String>) {
  var needed = roots
  while true {
    let more = package.targets.filter { needed.contains($0.name) }.flatMap(\.dependencies).compactMap { dependency in
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): name
      default: nil
      }
    }
    guard !Set(more).isSubset(of: needed) else { break }
    needed.formUnion(more)
  }
  package.targets.removeAll { !needed.contains($0.name) }
}

// Fuzz targets need -sanitize=fuzzer for the whole build. Tests/Fuzz/run enables them with REGENT_FUZZ=1 and builds
// them in a separate folder; a normal build does not contain them.
if Context.environment["REGENT_FUZZ"] == "1" {
  func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies + ["FuzzSupport"], path: "Tests/Fuzz/\(name)",
      swiftSettings: house)
  }
  package.targets += [
    .target(name: "FuzzSupport", path: "Tests/Fuzz/FuzzSupport", swiftSettings: house),
    fuzzer("FuzzJSON", ["Administration", "RegentJSON"]),
    fuzzer("FuzzRequests", ["RegentHTTPCodec"]),
    fuzzer("FuzzChunks", ["RegentHTTPCodec"]),
    fuzzer("FuzzForms", ["RegentHTTPCodec"]),
    fuzzer("FuzzURLs", ["RegentHTTPCodec"]),
    fuzzer("FuzzHeaders", ["RegentHTTPCodec", "HTTPServer"]),
    fuzzer("FuzzResponses", ["RegentHTTPClient", "RegentHTTPCodec"]),
    fuzzer("FuzzRoutes", ["RegentHTTPCodec", "HTTPServer"]),
    fuzzer("FuzzText", ["PasswordHashing", "RegentEncodings", "RegentPlatform"]),
    fuzzer("FuzzPEM", ["RegentCryptography"]),
    fuzzer(
      "FuzzSocket",
      [
        "AccessEnabler", "CommandKit", "DeviceAgent", "HTTPServer", "RegentHTTPCodec", "RegentJSON", "RegentPlatform",
      ]),
    fuzzer("FuzzDiscovery", ["DeviceAgent", "RegentHTTPCodec"]),
    fuzzer("FuzzTokens", ["RegentCryptography", "RegentJSON"]),
    fuzzer("FuzzXML", ["XML"]),
    fuzzer("FuzzJWE", ["RegentCryptography"]),
    fuzzer("FuzzClients", ["RegentCryptography", "RegentJSON", "RegentOAuth", "RegentPairing"]),
    fuzzer("FuzzAnswers", ["AccessEnabler", "RegentJSON", "RegentPairingWire"]),
    fuzzer("FuzzResources", ["PairingService", "RegentPairing", "XML"]),
    fuzzer("FuzzSettings", ["CommandKit", "DeviceAgent", "RegentPlatform"]),
    fuzzer("FuzzOAuth", ["RegentHTTPCodec", "RegentJSON", "RegentOAuth"]),
    fuzzer("FuzzWire", ["RegentEncodings", "RegentJSON", "RegentPairing", "RegentPairingWire"]),
  ]
}
