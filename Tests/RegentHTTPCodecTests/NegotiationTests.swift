import RegentHTTPCodec
import Testing

@Suite struct NegotiationTests {
  @Test(arguments: [
    ("application/json", "application/json", 0), ("Application/JSON", "application/json", 0),
    ("application/json; charset=utf-8", "application/json", 1),
    ("application/json ;charset=\"utf-8\";", "application/json", 1),
    ("text/html;a=\"b;c\";d=e", "text/html", 2),
  ])
  func `a media type is read with its parameters`(text: String, name: String, parameters: Int) throws {
    let type = try #require(MediaType(parsing: text))
    #expect(type.description == name)
    #expect(type.parameters.count == parameters)
  }

  @Test(arguments: [
    "", "json", "/", "a/", "/b", "a/b/c", "a b/c", "a/b; c", "a/b; c=", "a/b;=d", "a/b;c=d e",
    "a/b;c=\"d", "a/b;c=d;C=e", "*/*", "a/*", "a/b, c/d", "\u{E9}/b",
  ])
  func `an invalid media type is refused`(text: String) {
    #expect(MediaType(parsing: text) == nil)
  }

  @Test func `the parameters of a media type are found, and matching ignores them`() {
    let type = MediaType(parsing: "application/json; Charset=\"UTF-8\"")
    #expect(type?.parameter("charset") == "UTF-8")
    #expect(type?.matches(.json) == true)
    #expect(type?.matches(.xml) == false)
  }

  @Test(
    arguments: [
      ([], "application/json"), ([""], "application/json"), (["*/*"], "application/json"),
      (["application/xml"], "application/xml"), (["APPLICATION/XML"], "application/xml"),
      (["application/*;q=0.5, application/xml"], "application/xml"),
      (["application/json;q=0.2, application/xml;q=0.3"], "application/xml"),
      (["application/json;q=0.2", "application/xml;q=0.3"], "application/xml"),
      (["*/*, application/json;q=0"], "application/xml"),
      (["application/json;q=0, */*;q=0.001"], "application/xml"),
      (["text/html"], nil), (["application/json;q=0"], nil), (["application/json;q=0.0"], nil),
      (["text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"], "application/xml"),
      (["application/json;version=1"], nil),
      (["application/json;q=1.000;ext=1"], "application/json"),
    ] as [([String], String?)])
  func `the most preferred media type is chosen, and the server's order breaks ties`(
    accept: [String], expected: String?
  ) throws {
    let accepted = try #require(AcceptedTypes(headerValues: accept))
    #expect(accepted.preferred(among: [.json, .xml])?.description == expected)
  }

  @Test(arguments: [
    "json", "*/json", "a/b;q=2", "a/b;q=1.001", "a/b;q=0.1234", "a/b;q=", "a/b;q=-1", "a/b;q=.5",
    "a/b;q=1e0", "a/b;q=0.5;q=0.6", "a/b c/d", "a/b;q=0,5",
  ])
  func `a malformed Accept header is refused`(accept: String) {
    #expect(AcceptedTypes(headerValues: [accept]) == nil)
  }

  @Test func `an explicitly named media type is distinguished from one that a wildcard covers`() throws {
    let accepted = try #require(AcceptedTypes(headerValues: ["text/html, */*;q=0.1"]))
    #expect(accepted.names(.html))
    #expect(!accepted.names(.json))
    #expect(accepted.weight(of: .json) == 100)
    #expect(accepted.weight(of: .html) == 1000)
  }

  @Test(
    arguments: [
      (["wait=10"], 10), (["Wait=10"], 10), (["wait = 10"], 10), (["wait=\"10\""], 10),
      (["respond-async, wait=5"], 5), (["respond-async", "wait=5"], 5), (["wait=5; x=y"], 5),
      (["wait=0"], 0), (["wait=99999999999999999999"], 86_400), (["wait=86401"], 86_400),
      (["wait=1, wait=2"], 1), (["wait, wait=2"], nil), (["wait=x, wait=2"], nil),
      ([], nil), ([""], nil), (["wait"], nil), (["wait="], nil), (["wait=-1"], nil),
      (["wait=+1"], nil), (["wait=1.5"], nil), (["x=\", wait=9\""], nil),
      (["wait=123456789012345678901"], nil), (["x=\"a\\\", wait=1"], nil), (["@@, wait=3"], 3),
    ] as [([String], Int?)])
  func `the wait preference of a Prefer header is read`(prefer: [String], expected: Int?) {
    #expect(Preferences.wait(headerValues: prefer) == expected)
  }

  @Test(
    arguments: [
      (["return=representation"], true), (["Return = \"representation\""], true),
      (["wait=5, return=representation"], true),
      (["wait=5", "return=representation; x=y"], true), (["return=minimal"], false), (["return"], false),
      (["return=minimal, return=representation"], false), (["x=\"return=representation\""], false), ([], false),
    ] as [([String], Bool)])
  func `the return=representation preference of a Prefer header is read`(prefer: [String], expected: Bool) {
    #expect(Preferences.wantsRepresentation(headerValues: prefer) == expected)
  }
}
