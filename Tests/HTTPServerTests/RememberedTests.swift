import HTTPServer
import RegentHTTPCodec
import HTTPTestSupport
import RegentEncodings
import Testing

/// A value that a handler stores with a connection.
private final class Note: Sendable {
  let text: String
  init(_ text: String) { self.text = text }
}

/// Replies with the remembered value.
///
/// `/keep/…` remembers its path; `/later/…` is answered asynchronously.
private let handler = ClosureHandler { request in
  let path = String(decoding: request.path, as: UTF8.self)
  var response = Response.text(.ok, (request.remembered as? Note)?.text ?? "nothing")
  if path.hasPrefix("/keep/") { response.remembered = Note(path) }
  guard path.hasPrefix("/later/") else { return .now(response) }
  return .later { [response] in $0.complete(response) }
}

@Suite struct `Values that a connection remembers for a handler` {
  @Test func `a remembered value comes with the connection's next requests and with no other's`() async throws {
    try await withServer(handler) { _, address in
      let connection = try WireConnection(address)
      for (path, answer) in [
        ("/a", "nothing"), ("/keep/1", "nothing"), ("/b", "/keep/1"), ("/c", "/keep/1"), ("/keep/2", "/keep/1"),
        ("/d", "/keep/2"),
      ] {
        try connection.send(get(path))
        #expect(try connection.response().text == answer)
      }
      let other = try WireConnection(address)
      try other.send(get("/a"))
      #expect(try other.response().text == "nothing")
    }
  }

  @Test func `an asynchronous reply discards the remembered value`() async throws {
    try await withServer(handler) { _, address in
      let connection = try WireConnection(address)
      try connection.send(get("/keep/1") + get("/later/1") + get("/a"))
      for answer in ["nothing", "/keep/1", "nothing"] { #expect(try connection.response().text == answer) }
    }
  }
}

@Suite struct `Comparison with a remembered request head` {
  private func request(_ head: String, body: String = "") throws -> Request {
    try Request(
      head: Array((head + "\r\n\r\n").replacing("\n", with: "\r\n").replacing("\r\r", with: "\r").utf8),
      body: Array(body.utf8))
  }

  private static let first = "GET /a?b=c HTTP/1.1\nHost: h\nX: y\nAuthorization: one\nZ: z"

  @Test(arguments: [
    (first, RememberedHead.Likeness.same),
    (first.replacing("one", with: "another"), .otherCredentials),
    (first.replacing("one", with: "o\"e, x=y"), .otherCredentials),
    // Another spelling of the header name or other spaces around the value make the head different.
    (first.replacing("one", with: "one "), .other), (first.replacing("one", with: " one"), .other),
    (first.replacing("one", with: ""), .other), (first.replacing("Authorization", with: "authorization"), .other),
    (first.replacing("a?b=c", with: "a?b=d"), .other), (first.replacing("GET", with: "HEAD"), .other),
    (first.replacing("one", with: "one\nAuthorization: two"), .other),
    (first.replacing("one\nZ: z", with: "one"), .other), (first + "\nY: y", .other),
    (first.replacing("X: y\n", with: ""), .other), (first.replacing("HTTP/1.1", with: "HTTP/1.0"), .other),
  ])
  func `a repeated head with other credentials is recognised, and any other difference is too`(
    head: String, likeness: RememberedHead.Likeness
  ) throws {
    let known = try #require(RememberedHead(try request(Self.first), atMost: 1024))
    #expect(known.likeness(of: try request(head)) == likeness)
  }

  @Test(arguments: ["one", "another", "o"])
  func `the comparison of two heads returns the credentials of both`(value: String) throws {
    for tail in ["", "\nZ: z"] {
      let first = Self.first.replacing("\nZ: z", with: tail)
      let known = try #require(RememberedHead(try request(first), atMost: 1024))
      let other = try request(first.replacing("one", with: value))
      #expect(known.likeness(of: other) != .other)
      known.withCredentials(of: other) { theirs, before in
        let (new, old) = ([UInt8](copying: theirs), [UInt8](copying: before))
        #expect(new == Array(value.utf8) && old == Array("one".utf8))
      }
    }
  }

  @Test func `a request with a body, two credentials or too many bytes is not remembered`() throws {
    let known = try #require(RememberedHead(try request(Self.first), atMost: 1024))
    #expect(known.likeness(of: try request(Self.first, body: "b=d")) == .other)
    #expect(RememberedHead(try request(Self.first, body: "b=d"), atMost: 1024) == nil)
    #expect(RememberedHead(try request(Self.first + "\nAuthorization: two"), atMost: 1024) == nil)
    #expect(RememberedHead(try request(Self.first.replacing("Authorization", with: "X")), atMost: 1024) == nil)
    #expect(RememberedHead(try request(Self.first), atMost: 63) == nil)
  }
}
