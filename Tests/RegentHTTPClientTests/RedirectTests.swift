import RegentHTTPClient
import RegentHTTPCodec
import Testing

@Suite struct RedirectTests {
  /// Replies to `/STATUS?LOCATION` with that redirect, and to everything else with the request as it was received.
  private static func server() throws -> ScriptedServer {
    try ScriptedServer { _, connection in
      while true {
        let request = connection.readRequest()
        guard !request.isEmpty else { return }
        let target = request.split(separator: " ")[1]
        if let status = Int(target.dropFirst().prefix { $0 != "?" }) {
          let location = target.drop { $0 != "?" }.dropFirst()
          connection.send(
            "HTTP/1.1 \(status) Go\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
        } else {
          connection.send(
            "HTTP/1.1 200 OK\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)")
        }
      }
    }
  }

  @Test func `a redirect is returned as the response unless the caller wants to follow it`() async throws {
    let server = try Self.server()
    let response = try await makeClient().send(
      ClientRequest(.get, ClientURL("\(server.url)/302?/x")))
    #expect(response.status == .found)
    #expect(response.header(.location) == "/x")
  }

  @Test(arguments: [
    (301, Method.get, "GET"), (302, .get, "GET"), (303, .get, "GET"), (307, .get, "GET"),
    (308, .get, "GET"), (301, .post, "GET"), (302, .post, "GET"), (303, .post, "GET"),
    (307, .post, "POST"), (308, .post, "POST"), (303, .put, "GET"), (302, .put, "PUT"),
  ])
  func `a followed redirect changes the method only where HTTP requires it`(status: Int, method: Method, after: String)
    async throws
  {
    let server = try Self.server()
    var request = try ClientRequest(
      method, ClientURL("\(server.url)/\(status)?/there"), body: method == .get ? [] : [65])
    request.redirects = .follow(atMost: 1)
    let response = try await makeClient().send(request)
    #expect(response.url.target == "/there")
    let text = String(decoding: response.body, as: UTF8.self)
    #expect(text.hasPrefix("\(after) /there HTTP/1.1\r\n"))
    #expect(text.contains("Content-Length: 1") == (after != "GET"))
  }

  @Test func `a redirect loop ends at the limit`() async throws {
    let server = try ScriptedServer { _, connection in
      while !connection.readRequest().isEmpty {
        connection.send("HTTP/1.1 302 Go\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
      }
    }
    var request = try ClientRequest(.get, ClientURL(server.url))
    request.redirects = .follow(atMost: 3)
    let kind = await outcome(makeClient(), request).failureKind
    #expect(kind == .redirectRefused("more than 3 redirects one after another"))
  }

  @Test(arguments: [
    "https://example.com/", "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)",
    "http://user:password@example.com/", "http:///", "http://[::1", "unix:/run/docker.sock",
  ])
  func `a redirect to another scheme or an invalid URL is refused`(location: String) async throws {
    let server = try Self.server()
    var request = try ClientRequest(.get, ClientURL("\(server.url)/302?\(location)"))
    request.redirects = .follow(atMost: 5)
    let kind = await outcome(makeClient(), request).failureKind
    guard case .redirectRefused = kind else {
      Issue.record("\(String(describing: kind))")
      return
    }
  }

  @Test func `credentials and bodies are not sent to another host after a redirect`() async throws {
    let (first, other) = (try Self.server(), try Self.server())
    var request = try ClientRequest(.get, ClientURL("\(first.url)/307?\(other.url)/there"))
    request.addHeader(.authorization, "Bearer secret")
    request.addHeader(.cookie, "a=secret")
    request.addHeader(.accept, "text/plain")
    request.redirects = .follow(atMost: 1)
    let client = makeClient()
    let text = String(decoding: try await client.send(request).body, as: UTF8.self)
    #expect(!text.contains("secret"))
    #expect(text.contains("Accept: text/plain"))
    request.method = .post
    request.body = [65]
    let kind = await outcome(client, request).failureKind
    #expect(kind == .redirectRefused("it would send the body to \(other.url)"))
    // On the same host, credentials and body are sent again.
    request.url = try ClientURL("\(first.url)/307?/there")
    let same = String(decoding: try await client.send(request).body, as: UTF8.self)
    #expect(same.contains("Bearer secret"))
    #expect(same.hasSuffix("\r\n\r\nA"))
  }
}
