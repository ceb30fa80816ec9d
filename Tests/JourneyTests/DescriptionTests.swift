import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

private func description() throws -> JSONObject {
  let bytes = try readFile(packageFolder() + "/web/openapi.json")
  return try #require(
    JSONValue(reading: bytes, limits: JSONLimits(depth: 32, bytes: 1 << 20)).object)
}

@Suite struct `The OpenAPI description` {
  @Test func `the description names exactly the routes of the protocol`() async throws {
    let service = try await TestService()
    let phone = try await Phone(
      service.core, try PhonePages(WebFiles(readingFolder: packageFolder() + "/web")))
    var mounted: Set<String> = []
    for route in ServiceRoutes.all(service.core, phone).mounted where route.method != .options {
      let path = route.pattern.replacing("[.json|.xml]", with: "")
      if isPage(path) { continue }
      mounted.insert("\(route.method.token) \(path)")
    }
    var described: Set<String> = []
    for path in try #require(try description()["paths"]?.object).members {
      for method in try #require(path.value.object).members {
        described.insert("\(method.name.uppercased()) \(path.name)")
      }
    }
    #expect(mounted.subtracting(described).sorted() == [])
    #expect(described.subtracting(mounted).sorted() == [])
  }

  @Test func `the description names the same calls as docs/protocol.md`() throws {
    let page = String(decoding: try readFile(packageFolder() + "/docs/protocol.md"), as: UTF8.self)
    var shown: Set<String> = []
    for row in page.split(separator: "\n") where row.hasPrefix("| `") {
      for span in row.split(separator: "`").filter({ $0.contains(" /") }) {
        #expect(shown.insert(String(span)).inserted, "\(span) is shown twice")
      }
    }
    var described: Set<String> = []
    for path in try #require(try description()["paths"]?.object).members {
      for method in try #require(path.value.object).members {
        described.insert("\(method.name.uppercased()) \(path.name)")
      }
    }
    #expect(described.subtracting(shown).sorted() == [])
    #expect(shown.subtracting(described).sorted() == [])
  }

  /// Whether this is a page for people, which is not part of the protocol.
  private func isPage(_ path: String) -> Bool {
    // A browser that expects an authorization endpoint lands on this page, which says that there is none.
    if path == "/oauth/authorize" { return true }
    let first = path.split(separator: "/").first.map(String.init) ?? ""
    return [
      "", "(D)", "sign-in", "sign-out", "sessions", "screens", "static", "language", "favicon.ico",
      "password", "account", "security", "code",
    ].contains(first)
  }

  @Test func `every reference in the description resolves, and every operation has a unique name`() throws {
    let whole = try description()
    var names: Set<String> = []
    func walk(_ value: JSONValue) throws {
      if let object = value.object {
        if let target = object["$ref"]?.string {
          var place: JSONValue? = .object(whole)
          for step in target.split(separator: "/").dropFirst() { place = place?[String(step)] }
          #expect(place != nil, "\(target)")
        }
        if object["responses"] != nil, let name = object["operationId"]?.string {
          #expect(names.insert(name).inserted, "\(name)")
        }
        for member in object.members { try walk(member.value) }
      }
      for element in value.array ?? [] { try walk(element) }
    }
    try walk(.object(whole))
    #expect(names.count > 20)
  }

  @Test func `the service serves the description with its pages`() async throws {
    let service = try await TestService()
    let client = InProcessClient(try await service.phoneRouter())
    let answer = try await client.get("/openapi.json")
    #expect(answer.status == 200)
    #expect(answer.header("content-type") == "application/json")
    let file = try readFile(packageFolder() + "/web/openapi.json")
    #expect(try JSONValue(reading: answer.body) == JSONValue(reading: file))
    #expect(answer.body.count < file.count * 3 / 4, "it is sent without the file's indentation")
  }

  @Test func `the description lists every error reason and every action of an enhanced code`() throws {
    let schemas = try #require(try description()["components"]?["schemas"]?.object)
    let reasons = schemas["ClientError"]?["properties"]?["error"]?["enum"]?.array?
      .compactMap(\.string)
    #expect(Set(reasons ?? []) == Set(ClientErrorDocument.Reason.allCases.map(\.rawValue)))
    let actions = schemas["EnhancedError"]?["properties"]?["action"]?["enum"]?.array?
      .compactMap(\.string)
    #expect(Set(actions ?? []).isSuperset(of: EnhancedCode.allCases.map(\.action.rawValue)))
  }
}
