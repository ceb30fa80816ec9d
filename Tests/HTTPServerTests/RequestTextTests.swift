import RegentHTTPCodec
import HTTPServer
import Testing

@Suite struct RequestTextTests {
  @Test func `the query, form, cookies and headers of a request are read`() throws {
    let request = try request(
      "POST /x?a=1&b=%20&a=2",
      [
        "Content-Type: application/x-www-form-urlencoded; charset=UTF-8",
        "Cookie: s=1", "Cookie: t=2", "Prefer: wait=10", "Accept: application/xml",
      ], body: "c=d+e&f")
    #expect(try request.queryParameters().values(of: "a") == ["1", "2"])
    #expect(try request.queryParameters().single("b") == " ")
    #expect(try request.form().single("c") == "d e")
    #expect(try request.form().single("f")?.isEmpty == true)
    #expect(request.cookies.value(of: "t") == "2")
    #expect(request.preferredWait == 10)
    #expect(request.acceptedTypes?.preferred(among: [.json, .xml]) == .xml)
    #expect(request.contentType?.matches(.form) == true)
    #expect(try request.singleHeader(.prefer) == "wait=10")
    #expect(try request.singleHeader(.origin) == nil)
    #expect(throws: RequestTextError.repeatedHeader(.cookie)) { try request.singleHeader(.cookie) }
  }

  @Test func `missing query, form and cookies are empty`() throws {
    let request = try request("GET /x", [])
    #expect(try request.queryParameters().isEmpty)
    #expect(try request.form().isEmpty)
    #expect(request.cookies.all.isEmpty)
    #expect(request.preferredWait == nil)
    #expect(request.acceptedTypes?.preferred(among: [.json, .xml]) == .json)
    #expect(try self.request("GET /x?", []).queryParameters().isEmpty)
  }

  @Test(arguments: [
    "application/json", "text/plain", "multipart/form-data; boundary=x", "", "form",
    "application/x-www-form-urlencoded; charset=latin1",
  ])
  func `a body of another media type is not read as a form`(type: String) throws {
    let request = try request("POST /x", ["Content-Type: \(type)"], body: "a=b")
    #expect(throws: RequestTextError.notAForm) { try request.form() }
    #expect(RequestTextError.notAForm.status == .unsupportedMediaType)
  }

  @Test func `a body without a media type is not read as a form`() throws {
    let request = try request("POST /x", [], body: "a=b")
    #expect(throws: RequestTextError.notAForm) { try request.form() }
  }

  @Test func `each error of a request's text has an HTTP status`() throws {
    let broken = try request("GET /x?a=%zz", [])
    let fault = #expect(throws: RequestTextError.self) { try broken.queryParameters() }
    #expect(fault?.status == .badRequest)
    let large = try request(
      "POST /x", ["Content-Type: application/x-www-form-urlencoded"], body: "a=123456789")
    let tooLarge = #expect(throws: RequestTextError.self) {
      try large.form(limits: .init(parameters: 1, bytes: 5))
    }
    #expect(tooLarge?.status == .contentTooLarge)
    let repeated = try request("GET /x", ["Content-Type: a/b", "content-type: c/d"])
    #expect(throws: RequestTextError.repeatedHeader(.contentType)) { try repeated.form() }
  }

  @Test func `a header that is not UTF-8 is refused and not silently changed`() throws {
    let head = Array("GET / HTTP/1.1\r\nHost: a\r\nOrigin: ".utf8) + [0xFF] + Array("\r\n\r\n".utf8)
    let request = try Request(head: head)
    #expect(throws: RequestTextError.headerNotText(.origin)) { try request.singleHeader(.origin) }
  }

  @Test func `a header with many combining marks in a row is refused or replaced`() throws {
    let marks = String(repeating: "\u{301}", count: 31)
    let request = try request("GET /x", ["Origin: a\(marks)", "Accept: b\u{301}"])
    #expect(throws: RequestTextError.headerNotText(.origin)) { try request.singleHeader(.origin) }
    #expect(request.headers(.origin) == ["\u{FFFD}"])
    #expect(request.headers(.accept) == ["b\u{301}"])
  }

  private func request(_ line: String, _ fields: [String], body: String = "") throws -> Request {
    let lines = ["\(line) HTTP/1.1", "Host: test.example"] + fields
    let head = lines.map { "\($0)\r\n" }.joined() + "\r\n"
    return try Request(head: Array(head.utf8), body: Array(body.utf8))
  }
}
