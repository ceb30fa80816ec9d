import Glibc
import RegentHTTPClient
import RegentHTTPCodec
import Testing

@Suite struct AnswerTests {
  @Test func `a call sends its request and returns the response`() async throws {
    let server = try ScriptedServer { _, connection in
      let request = connection.readRequest()
      connection.send(
        "HTTP/1.1 201 Created\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-One: a\r\nx-one: b\r\n"
          + "Content-Length: \(request.utf8.count)\r\n\r\n\(request)")
    }
    let client = makeClient()
    var request = try ClientRequest(
      .post, ClientURL("\(server.url)/a%20b?c=d#e"), body: Array("name=value".utf8))
    request.addHeader(.contentType, "application/x-www-form-urlencoded")
    let response = try await client.send(request)
    #expect(response.status == .created)
    #expect(response.headers(HeaderName(literal: "X-ONE")) == ["a", "b"])
    #expect(response.serverDate == 784_111_777_000)
    #expect(
      String(decoding: response.body, as: UTF8.self) == """
        POST /a%20b?c=d HTTP/1.1\r
        Host: 127.0.0.1:\(server.port)\r
        Content-Type: application/x-www-form-urlencoded\r
        Content-Length: 10\r
        \r
        name=value
        """)
  }

  /// Valid responses, each followed by the end of the connection.
  static let good: [(String, Method, String, String)] = [
    ("length", .get, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", "body"),
    ("no reason", .get, "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nbody", "body"),
    ("until the end", .get, "HTTP/1.1 200 OK\r\n\r\nbody", "body"),
    ("until the end, nothing", .get, "HTTP/1.1 200 OK\r\n\r\n", ""),
    ("1.0", .get, "HTTP/1.0 200 OK\r\n\r\nbody", "body"),
    ("1.0 with length", .get, "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nbody", "body"),
    (
      "chunks", .get,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nbo\r\n2\r\ndy\r\n0\r\nT: x\r\n\r\n",
      "body"
    ),
    ("no chunk", .get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""),
    ("head", .head, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", ""),
    ("head, chunked", .head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ""),
    ("204", .get, "HTTP/1.1 204 No Content\r\n\r\n", ""),
    ("304", .get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", ""),
    ("empty", .get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
    (
      "interim", .get,
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
      "body"
    ),
    ("more than said", .get, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyHTTP/1.1", "body"),
    ("an error is an answer", .get, "HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\nbody", "body"),
  ]

  @Test(arguments: good, [false, true])
  func `a valid response is read, in one piece or byte by byte`(
    answer: (name: String, method: Method, bytes: String, body: String), inPieces: Bool
  ) async throws {
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      if inPieces {
        for byte in answer.bytes.utf8 { connection.send([byte]) }
      } else {
        connection.send(answer.bytes)
      }
    }
    let client = makeClient()
    let response = try await client.send(ClientRequest(answer.method, ClientURL(server.url)))
    #expect(String(decoding: response.body, as: UTF8.self) == answer.body)
  }

  static let bad: [(String, String, ClientError.Kind)] = [
    ("nothing", "", .connectionLost),
    ("half a head", "HTTP/1.1 200 OK\r\nContent-", .connectionLost),
    ("half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody", .connectionLost),
    (
      "half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbody",
      .connectionLost
    ),
    (
      "no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
      .connectionLost
    ),
    ("only interim", "HTTP/1.1 100 Continue\r\n\r\n", .connectionLost),
    ("garbage", "\0\u{1}garbage garbage garbage\r\n", .malformed(.statusLine)),
    ("ssh", "SSH-2.0-OpenSSH_9.2p1 Debian\r\n", .malformed(.statusLine)),
    ("html", "<html><body>sign in to this network</body></html>\r\n", .malformed(.statusLine)),
    ("HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", .malformed(.statusLine)),
    ("another 1.x", "HTTP/1.2 200 OK\r\n\r\n", .malformed(.version)),
    ("status 99", "HTTP/1.1 099 No\r\n\r\n", .malformed(.statusLine)),
    ("switching", "HTTP/1.1 101 Switching\r\n\r\n", .malformed(nil)),
    (
      "two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody",
      .malformed(.repeatedContentLength)
    ),
    (
      "length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nbody",
      .malformed(.contentLengthAndTransferEncoding)
    ),
    (
      "negative length", "HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\n", .malformed(.contentLength)
    ),
    (
      "list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\n",
      .malformed(.contentLength)
    ),
    (
      "gzip coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      .malformed(.transferCoding)
    ),
    (
      "chunks in 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      .malformed(.transferEncodingInOldVersion)
    ),
    ("folded", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", .malformed(.foldedLine)),
    ("space before colon", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", .malformed(.fieldName)),
    ("bare LF", "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n", .malformed(.lineEnding)),
    ("NUL", "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", .malformed(.fieldValue)),
    (
      "chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      .malformed(.chunkSize)
    ),
    (
      "huge chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffff\r\n",
      .tooLarge(limit: 100)
    ),
    (
      "huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      .tooLarge(limit: 100)
    ),
    (
      "length over the cap", "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", .tooLarge(limit: 100)
    ),
    (
      "body over the cap", "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 101),
      .tooLarge(limit: 100)
    ),
    (
      "long line", "HTTP/1.1 200 " + String(repeating: "x", count: 20_000), .malformed(.statusLine)
    ),
    (
      "many headers", "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 200),
      .malformed(.tooManyFields)
    ),
    (
      "large headers", "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 40_000),
      .malformed(.fieldsTooLarge)
    ),
  ]

  @Test(arguments: bad, [false, true])
  func `an invalid HTTP response gives the error for its fault`(
    answer: (name: String, bytes: String, kind: ClientError.Kind), inPieces: Bool
  ) async throws {
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      if inPieces && answer.bytes.utf8.count < 1_000 {
        for byte in answer.bytes.utf8 where !connection.send([byte]) { return }
      } else {
        connection.send(answer.bytes)
      }
    }
    let client = makeClient()
    var request = try ClientRequest(.get, ClientURL(server.url))
    request.responseLimit = 100
    let result = await outcome(client, request)
    #expect(result.failureKind == answer.kind)
  }

  @Test func `a response of exactly the size limit is allowed`() async throws {
    for framing in ["Content-Length: 100\r\n", ""] {
      let server = try ScriptedServer(
        answering: "HTTP/1.1 200 OK\r\n\(framing)\r\n" + String(repeating: "x", count: 100))
      var request = try ClientRequest(.get, ClientURL(server.url))
      request.responseLimit = 100
      #expect(try await makeClient().send(request).body.count == 100)
    }
  }

  @Test func `a server that sends only interim responses is given up`() async throws {
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      while connection.send("HTTP/1.1 102 Processing\r\n\r\n") {}
    }
    let result = await outcome(makeClient(), try ClientRequest(.get, ClientURL(server.url)))
    #expect(result.failureKind == .malformed(nil))
  }

  @Test func `an endless response body is cut off at the size limit`() async throws {
    let server = try ScriptedServer { _, connection in
      connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      while connection.send("1000\r\n" + String(repeating: "x", count: 4_096) + "\r\n") {}
    }
    let result = await outcome(makeClient(), try ClientRequest(.get, ClientURL(server.url)))
    #expect(result.failureKind == .tooLarge(limit: 1 << 20))
  }

  @Test func `large bodies are sent and received`() async throws {
    let server = try ScriptedServer { _, connection in
      let request = connection.readRequest()
      let body = request.split(separator: "\r\n\r\n").last ?? ""
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
    let body = (0..<600_000).map { UInt8(97 + $0 % 26) }
    let request = try ClientRequest(.put, ClientURL(server.url), body: body)
    #expect(try await makeClient().send(request).body == body)
  }

  @Test func `a response that arrives before the whole request was sent is returned`() async throws {
    let server = try ScriptedServer { _, connection in
      connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
      connection.waitForEnd()
    }
    let request = try ClientRequest(
      .post, ClientURL(server.url), body: [UInt8](repeating: 1, count: 20_000_000))
    #expect(try await makeClient().send(request).status == .contentTooLarge)
  }
}
