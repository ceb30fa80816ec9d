import RegentJSON
import TestSupport
import Testing

@Suite struct `A box without libcurl` {
  /// An empty file replaces the library, as after a damaged or removed package.
  @Test(arguments: [["pair", "--json"], ["authorize", "one", "--json"]])
  func `with an https service the error names the package to install`(arguments: [String]) async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/libcurl.so.4", [])
      let box = try Box(folder, "https://127.0.0.1:1", more: ["LD_LIBRARY_PATH": folder])
      let end = try await box.run(arguments)
      #expect(end.status == 6)
      let said = end.outputText + end.errorText
      #expect(said.contains("https needs libcurl"), "\(said)")
      #expect(said.contains("apt install libcurl4"), "\(said)")
      #expect(!said.contains("check the network"), "\(said)")
    }
  }

  @Test func `with a plain http service the box works without libcurl`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/libcurl.so.4", [])
      let box = try Box(folder, service.url, more: ["LD_LIBRARY_PATH": folder])
      let providers = try await box.run(["providers", "--json"])
      #expect(providers.status == 0, "\(providers.errorText)")
    }
  }
}
