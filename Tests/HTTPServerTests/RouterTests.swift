import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import Testing

@Suite struct RouterTests {
  @Test(arguments: [
    ("GET", "/", "root"), ("GET", "http://test.example", "root"), ("GET", "/?a=b", "root"),
    ("GET", "/healthz", "health"), ("HEAD", "/healthz", ""), ("POST", "/form", "form"),
    ("GET", "/reggie/v1/REF30/regcode/ABC", "show REF30 ABC"),
    ("DELETE", "/reggie/v1/REF30/regcode/ABC", "delete REF30 ABC"),
    ("POST", "/reggie/v1/REF30/regcode", "make REF30"),
    ("POST", "/reggie/v1/REF30/regcode.json", "make REF30 as .json"),
    ("POST", "/reggie/v1/REF30/regcode.xml?a=b", "make REF30 as .xml"),
    ("GET", "/reggie/v1/REF30/regcode/ABC.json", "show REF30 ABC as .json"),
    ("GET", "/reggie/v1/REF30/regcode/ABC.txt", "show REF30 ABC.txt"),
    ("GET", "/reggie/v1/REF30/regcode/.json", "show REF30 .json"),
    ("GET", "/reggie/v1/REF30/regcode/A.json.xml", "show REF30 A.json as .xml"),
    ("GET", "/reggie/v1/R/regcode/special", "literal wins"),
    ("GET", "/D/BCDFGHJK", "page BCDFGHJK"), ("GET", "/d/bcdfghjk", "page bcdfghjk"),
    ("GET", "/D/BCDF-GHJK/", "page with slash BCDF-GHJK"),
    // Path parameters are decoded once, after routing.
    ("GET", "/D/a%20b", "page a b"), ("GET", "/D/%2541", "page %41"), ("GET", "/D/a+b", "page a+b"),
    ("GET", "/D/%E2%82%AC", "page €"), ("GET", "/D/%2e%2e%2e", "page ..."),
    ("GET", "/D/.a", "page .a"),
    ("GET", "/D/..a", "page ..a"), ("GET", "/D/a..", "page a.."),
    ("GET", "/static/css/site.css", "static css/site.css"), ("GET", "/static/a", "static a"),
    ("GET", "/a/b/c", "deep"), ("GET", "/a/x/d", "other x"), ("GET", "/a/b/d", "other b"),
  ])
  func `a request reaches its route`(method: String, target: String, expected: String) async throws {
    let response = try await client().send(TestRequest(method, target))
    #expect(response.status == 200)
    #expect(response.text == expected)
  }

  @Test(arguments: [
    "/..", "/.", "/../x", "/./x", "/D/..", "/D/.", "/D/../healthz", "/D/./x", "/%2e", "/%2E%2e/x",
    "/.%2e", "/D/%2e%2e", "/D/x/..", "/%2e%2e%2fhealthz", "/D/a%2fb", "/D/a%2Fb", "/D/a%5cb",
    "/D/a%5Cb",
    "/D/%00", "/D/a%00.json", "/%00", "//", "//healthz", "/D//x", "/healthz//", "/D/%", "/D/%4",
    "/D/%zz",
    "/D/%0a", "/D/%0d%0aX:1", "/D/%7f", "/D/%1b[31m", "/unknown/%00", "/unknown/../x", "/D/%c0%af",
    "/D/%ff", "/D/%ed%a0%80", "/static/a%2f..%2fb", "/static/../b", "/static/a/%2e%2e/b",
    "/static/%ff",
  ])
  func `an ambiguous path is refused`(target: String) async throws {
    let response = try await client().get(target)
    #expect(response.status == 400)
  }

  @Test(arguments: [
    "/unknown", "/healthz/", "/healthz/x", "/Healthz", "/health%7a", "/D", "/D/", "/D/a/b",
    "/static",
    "/static/", "/static/a/", "/reggie/v1/R/regcode.txt", "/reggie/v1/R/regcode.jsonx", "/a/b",
    "/form/..x",
    "/a/x", "/a/", "/a",
  ])
  func `an unknown path gets a 404`(target: String) async throws {
    let response = try await client().get(target)
    #expect(response.status == 404)
    #expect(response.header("Allow") == nil)
  }

  @Test(arguments: [
    ("POST", "/healthz", "GET, HEAD, OPTIONS"), ("GET", "/form", "POST, OPTIONS"),
    ("PUT", "/reggie/v1/R/regcode/X", "GET, HEAD, DELETE, OPTIONS"),
    // The suffix is allowed for GET only. For DELETE the path is a code that ends with the suffix.
    ("PUT", "/reggie/v1/R/regcode/X.json", "GET, HEAD, DELETE, OPTIONS"),
    ("GET", "/reggie/v1/R/regcode.json", "POST, OPTIONS"),
  ])
  func `a method that a path does not allow gets a 405 with the allowed methods`(
    method: String, target: String, allowed: String
  ) async throws {
    let response = try await client().send(TestRequest(method, target))
    #expect(response.status == 405)
    #expect(response.header("Allow") == allowed)
  }

  @Test func `OPTIONS is answered automatically unless a route handles it`() async throws {
    let client = try client()
    let plain = try await client.send(TestRequest("OPTIONS", "/healthz"))
    #expect(plain.status == 204)
    #expect(plain.header("Allow") == "GET, HEAD, OPTIONS")
    let all = try await client.send(TestRequest("OPTIONS", "*"))
    #expect(all.status == 204)
    #expect(all.header("Allow") == "GET, HEAD, POST, DELETE, OPTIONS")
    #expect(try await client.send(TestRequest("OPTIONS", "/unknown")).status == 404)
    let own = try await client.send(TestRequest("OPTIONS", "/own-options"))
    #expect(own.text == "own")
  }

  @Test(arguments: TestTransport.allCases)
  func `an asynchronous reply arrives in-process and over a socket`(transport: TestTransport) async throws {
    var routes = Routes()
    routes.get("/later/{name}") { _, parameters in
      let name = parameters["name"]
      return .later { reply in startThread { reply.complete(.text(.ok, "late \(name)")) } }
    }
    routes.get("/forgotten") { _, _ in .later { _ in } }
    try await transport.withClient(of: Router(routes)) { client in
      let response = try await client.get("/later/a%20b")
      #expect(response.status == 200)
      #expect(response.text == "late a b")
      #expect(try await client.get("/forgotten").status == 500)
      #expect(try await client.send(TestRequest("HEAD", "/later/x")).body.isEmpty)
    }
  }

  @Test func `the program can define the bodies of the router's error replies`() async throws {
    let router = try Router(Routes()) { _, refusal in
      var response = Response(refusal.status, body: Array("mine".utf8))
      response.addHeader(.cacheControl, "no-store")
      return response
    }
    let response = try await InProcessClient(router).get("/x")
    #expect(response.status == 404)
    #expect(response.text == "mine")
    #expect(response.header("cache-control") == "no-store")
  }

  @Test(arguments: [
    "", "a", "/a//b", "//", "/{}", "/{a", "/a}", "/{a b}", "/{a...}/b", "/{a}/{a}", "/a[",
    "/a[json]",
    "/a[]", "/a[.]", "/[.json]", "/()", "/(a", "/a b", "/%41", "/é", "/..", "/.", "/{a...}[.json]",
    "/*",
    "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", "/a\\b",
  ])
  func `an invalid route pattern is refused at start`(pattern: String) {
    var routes = Routes()
    routes.get(pattern) { _, _ in .now(Response(.ok)) }
    #expect(throws: RouteError.self) { try Router(routes) }
  }

  @Test(arguments: [
    ("/a/{x}", "/a/{y}"), ("/a[.json]", "/a.json"), ("/{x...}", "/{y...}"), ("/(A)", "/(a)"),
    ("/", "/"),
    ("/{x}[.json|.xml]", "/{y}[.xml]"),
  ])
  func `two routes for the same requests are refused at start`(one: String, other: String) {
    var routes = Routes()
    routes.get(one) { _, _ in .now(Response(.ok)) }
    routes.get(other) { _, _ in .now(Response(.ok)) }
    #expect(throws: RouteError.registeredTwice(method: "GET", pattern: other)) {
      try Router(routes)
    }
  }

  @Test func `routes can be mounted below a prefix`() async throws {
    var routes = Routes()
    routes.below("/api/v1") { routes in
      routes.get("/config/{requestor}") { _, it in .now(.text(.ok, it["requestor"])) }
      routes.below("/tokens") { $0.get("/authn") { _, _ in .now(.text(.ok, "inner")) } }
    }
    routes.get("/after") { _, _ in .now(.text(.ok, "after")) }
    let client = InProcessClient(try Router(routes))
    #expect(try await client.get("/api/v1/config/R").text == "R")
    #expect(try await client.get("/api/v1/tokens/authn").text == "inner")
    #expect(try await client.get("/after").text == "after")
  }

  @Test func `a hundred similar routes are matched correctly`() async throws {
    // Many parameters beside literals at the same place, so that the router must leave wrong branches again.
    var routes = Routes()
    for index in 0..<100 {
      routes.get("/a/{x}/a/{y}/a/{z}/end\(index)") { _, it in
        .now(.text(.ok, "\(it["x"])\(it["y"])\(it["z"])\(index)"))
      }
      routes.get("/a/a\(index)/{x}/{y}/{z}") { _, _ in .now(.text(.ok, "other")) }
    }
    let client = InProcessClient(try Router(routes))
    #expect(try await client.get("/a/1/a/2/a/3/end99").text == "12399")
    #expect(try await client.get("/a/a5/a/2/a/3/end99").text == "a52399")
    #expect(try await client.get("/a/a5/a/2/a").text == "other")
  }

  private func client() throws -> InProcessClient {
    var routes = Routes()
    @Sendable func text(_ words: String...) -> Answer {
      .now(.text(.ok, words.joined(separator: " ")))
    }
    @Sendable func kind(_ it: PathParameters) -> String { it.suffix.map { " as \($0)" } ?? "" }
    routes.get("/") { _, _ in text("root") }
    routes.get("/healthz") { _, _ in text("health") }
    routes.post("/form") { _, _ in text("form") }
    routes.post("/reggie/v1/{requestor}/regcode[.json|.xml]") { _, it in
      text("make \(it["requestor"])\(kind(it))")
    }
    routes.get("/reggie/v1/{requestor}/regcode/{code}[.json|.xml]") { _, it in
      text("show \(it["requestor"]) \(it["code"])\(kind(it))")
    }
    routes.delete("/reggie/v1/{requestor}/regcode/{code}") { _, it in
      text("delete \(it["requestor"]) \(it["code"])")
    }
    routes.get("/reggie/v1/{requestor}/regcode/special") { _, _ in text("literal wins") }
    routes.get("/(D)/{code}") { _, it in text("page \(it["code"])") }
    routes.get("/D/{code}/") { _, it in text("page with slash \(it["code"])") }
    routes.get("/static/{path...}") { _, it in text("static \(it["path"])") }
    routes.get("/a/b/c") { _, _ in text("deep") }
    routes.get("/a/{x}/d") { _, it in text("other \(it["x"])") }
    routes.on(.options, "/own-options") { _, _ in text("own") }
    return InProcessClient(try Router(routes))
  }
}
