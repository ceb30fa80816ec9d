import RegentHTTPClient
import RegentHTTPCodec
import RegentPlatform
import TestSupport
import Testing

@Suite struct ProxyTests {
  @Test(arguments: [
    ("", "http://tv.example/", "proxy http_proxy"), ("", "https://tv.example/", "proxy https_proxy"),
    ("example", "http://tv.example/", "excepted"), (".example", "https://tv.example/", "excepted"),
    ("*.example", "https://tv.example/", "excepted"), ("v.example", "http://tv.example/", "proxy http_proxy"),
    ("other, tv.example", "http://tv.example/", "excepted"), ("tv.example other", "http://TV.example/", "excepted"),
    ("tv.example:8080", "http://tv.example:8080/", "excepted"),
    ("tv.example:8080", "http://tv.example/", "proxy http_proxy"),
    ("10.0.0.0/8", "http://10.1.2.3/", "excepted"), ("10.9.9.9/8", "http://10.1.2.3/", "excepted"),
    ("10.0.0.0/8", "http://11.1.2.3/", "proxy http_proxy"), ("10.1.2.3", "https://10.1.2.3:8443/", "excepted"),
    ("fd00::/8", "http://[fd00::1]/", "excepted"), ("[fd00::1]:81", "http://[fd00::1]:81/", "excepted"),
    ("fd00::1", "http://[fd00::2]/", "proxy http_proxy"), ("*", "http://tv.example/", "excepted"),
    ("", "http://127.0.0.1/", "excepted"), ("", "http://localhost/", "excepted"), ("", "https://[::1]/", "excepted"),
  ])
  func `no_proxy excepts names, networks and loopback addresses`(list: String, url: String, expected: String) throws {
    let variables = ["http_proxy": "http://a.example:3128", "https_proxy": "b.example:3128", "no_proxy": list]
    let rules = ProxyRules(.environment) { variables[$0] }
    #expect(described(rules.route(to: try ClientURL(url).origin)) == expected)
  }

  private func described(_ route: ProxyRules.Route) -> String {
    switch route {
    case .direct: "direct"
    case .excepted: "excepted"
    case .proxy(_, let variable): "proxy \(variable ?? "setting")"
    case .unusable(let variable): "unusable \(variable)"
    }
  }

  @Test(arguments: ["socks5://a.example:1080", "https://a.example", "http://user:word@a.example:3128", "http://a b"])
  func `a call with a proxy of an unsupported kind fails and names the variable`(proxy: String) throws {
    let rules = ProxyRules(.environment) { $0 == "https_proxy" ? proxy : nil }
    #expect(described(rules.route(to: try ClientURL("https://tv.example").origin)) == "unusable https_proxy")
    #expect(described(rules.route(to: try ClientURL("http://tv.example").origin)) == "direct")
  }

  @Test func `a setting overrides the environment, and HTTP_PROXY is not read`() throws {
    let variables = [
      "http_proxy": "http://a.example:3128", "HTTP_PROXY": "http://evil.example", "NO_PROXY": "in.example",
    ]
    let origin = try ClientURL("http://tv.example").origin
    let address = try #require(ProxyAddress(parsing: "http://b.example"))
    let given = ProxyRules(.address(address)) { variables[$0] }
    #expect(given.route(to: origin) == .proxy(address, variable: nil))
    #expect(described(given.route(to: try ClientURL("https://in.example").origin)) == "excepted")
    #expect(ProxyRules(.none) { variables[$0] }.route(to: origin) == .direct)
    #expect(ProxyRules(.environment) { $0 == "HTTP_PROXY" ? "http://evil.example" : nil }.route(to: origin) == .direct)
  }

  @Test func `an http call gives the proxy the whole URL and keeps the connection`() async throws {
    let seen = Locked<[String]>([])
    let server = try ScriptedServer { _, connection in
      for _ in 0..<2 {
        let head = connection.readRequest()
        seen.withLock { $0.append(head.split(separator: "\r\n").first.map(String.init) ?? "") }
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
    }
    defer { server.stop() }
    let client = makeClient { $0.proxy = ProxyAddress(parsing: server.url).map { .address($0) } ?? .none }
    for target in ["/a?b", "/c"] {
      let response = try await client.send(ClientRequest(.get, ClientURL("http://tv.example:8787\(target)")))
      #expect(response.body == Array("ok".utf8))
    }
    #expect(
      seen.withLock { $0 } == ["GET http://tv.example:8787/a?b HTTP/1.1", "GET http://tv.example:8787/c HTTP/1.1"])
    #expect(server.connections == 1)
  }

  @Test(arguments: ["http", "https"])
  func `a proxy that wants a password is named in the error`(scheme: String) async throws {
    let server = try ScriptedServer(
      answering: "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
    defer { server.stop() }
    let client = makeClient { $0.proxy = ProxyAddress(parsing: server.url).map { .address($0) } ?? .none }
    let result = await outcome(client, try ClientRequest(.get, ClientURL("\(scheme)://tv.example/")))
    guard case .failure(let error) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(error.kind == .proxyRefused(status: 407))
    #expect(error.description == "the proxy \(server.url) wants a user name and a password")
  }

  @Test(arguments: ["http", "https"])
  func `an error names the proxy that cannot be reached`(scheme: String) async throws {
    let server = try ScriptedServer(answering: "")
    server.stop()
    let port = server.port
    let client = makeClient { $0.proxy = ProxyAddress(parsing: "127.0.0.1:\(port)").map { .address($0) } ?? .none }
    let result = await outcome(client, try ClientRequest(.get, ClientURL("\(scheme)://tv.example/")))
    guard case .failure(let error) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(
      error.description
        == "\(scheme)://tv.example cannot be reached through the proxy http://127.0.0.1:\(port): no program listens there"
    )
    #expect(error.hint == "check the proxy; no_proxy=tv.example goes around it")
  }

  @Test func `an https call goes through a tunnel, and the proxy sees nothing of it`() async throws {
    let world = try TLSWorld()
    let origin = try TLSServer(world, certificate: "other")
    let port = UInt16(origin.port)
    let heads = Locked<[String]>([])
    let proxy = try ScriptedServer { _, connection in
      heads.withLock { $0.append(connection.readRequest()) }
      connection.send("HTTP/1.1 200 Connection established\r\nX-Of-Proxy: 1\r\n\r\n")
      connection.tunnel(toPort: port)
    }
    defer { proxy.stop() }
    let client = makeClient {
      $0.authorities = .file(world.authority)
      $0.proxy = ProxyAddress(parsing: proxy.url).map { .address($0) } ?? .none
    }
    var request = try ClientRequest(.get, ClientURL("https://other.example/who"))
    request.addHeader(.authorization, "Bearer secret")
    let response = try await client.send(request)
    #expect(response.status.rawValue == 200)
    #expect(!response.headers.contains { $0.name.text == "X-Of-Proxy" })
    let head = heads.withLock { $0.first ?? "" }
    #expect(head.hasPrefix("CONNECT other.example:443 HTTP/1.1\r\n"))
    #expect(!head.contains("secret"))
  }
}
