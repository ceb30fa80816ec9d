import TestSupport
import Testing

@Suite("The table of rows and tests")
struct CoverageTests {
  @Test func `every test that the table names exists`() throws {
    let table = String(
      decoding: try readFile(package + "/docs/entitlement-coverage.md"), as: UTF8.self)
    let folder = package + "/Tests/AccessEnablerTests"
    var sources = ""
    for file in try run("/usr/bin/find", [folder, "-name", "*.swift"]).outputText.split(
      separator: "\n")
    {
      sources += String(decoding: try readFile(String(file)), as: UTF8.self)
    }
    var rows = 0
    for line in table.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| row") {
      let columns = line.split(separator: "|")
      let tests = columns.last.map(quoted) ?? []
      #expect(!tests.isEmpty, "\(columns.first ?? "") names no test")
      for test in tests {
        #expect(sources.contains("func `\(test)`("), "\(test)")
      }
      rows += 1
    }
    #expect(rows > 30)
  }

  @Test func `every call and callback of the API has a row`() throws {
    let table = String(
      decoding: try readFile(package + "/docs/entitlement-coverage.md"), as: UTF8.self)
    for name in [
      "softwareStatement", "setOptions", "setRequestor", "signedRequestorID", "publicKey",
      "checkAuthentication", "getAuthentication", "setSelectedProvider", "handleExternalURL",
      "getAuthenticationToken", "checkPreauthorizedResources", "checkAuthorization",
      "getAuthorization", "getSelectedProvider", "getMetadata", "logout", "setRequestorComplete",
      "displayProviderDialog", "navigateToUrl", "setAuthenticationStatus",
      "preauthorizedResources", "setToken", "tokenRequestFailed", "selectedProvider",
      "setMetadataStatus", "presentTvProviderDialog", "dismissTvProviderDialog", "status",
      "sendTrackingData",
    ] { #expect(table.contains("`\(name)") || table.contains(name), "\(name)") }
  }

  /// The texts between back quotes.
  private func quoted(_ text: Substring) -> [Substring] {
    let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
    return pieces.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }
}
