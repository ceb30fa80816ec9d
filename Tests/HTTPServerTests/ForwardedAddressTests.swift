import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import Testing

@Suite struct ForwardedAddressTests {
  /// The trusted proxies of these tests: two internal networks, and one server of a content delivery network.
  private static let trusted = ["10.0.0.0/8", "fd00::/8", "198.51.100.7"]

  @Test(arguments: [
    // The header of an untrusted peer is ignored.
    ("203.0.113.9", ["1.1.1.1"], "203.0.113.9", 0),
    ("10.0.0.1", [], "10.0.0.1", 0), ("10.0.0.1", ["203.0.113.5"], "203.0.113.5", 1),
    // The client may have written anything to the left of what the trusted proxy appended.
    ("10.0.0.1", ["1.1.1.1, 203.0.113.5"], "203.0.113.5", 1),
    ("10.0.0.1", ["10.0.0.99, 203.0.113.5"], "203.0.113.5", 1),
    ("10.0.0.1", ["1.1.1.1", "203.0.113.5"], "203.0.113.5", 1),
    ("10.0.0.1", ["203.0.113.5, 198.51.100.7"], "203.0.113.5", 2),
    ("10.0.0.1", ["203.0.113.5", "198.51.100.7, 10.2.3.4"], "203.0.113.5", 3),
    ("10.0.0.1", ["10.9.9.9"], "10.9.9.9", 1), ("10.0.0.1", ["10.9.9.9, 10.8.8.8"], "10.9.9.9", 2),
    // An entry that is no address ends the walk at the last trusted hop.
    ("10.0.0.1", ["unknown"], "10.0.0.1", 0), ("10.0.0.1", ["203.0.113.5,"], "10.0.0.1", 0),
    ("10.0.0.1", ["203.0.113.5, _hidden"], "10.0.0.1", 0), ("10.0.0.1", [""], "10.0.0.1", 0),
    ("10.0.0.1", ["203.0.113.5, evil, 10.2.3.4"], "10.2.3.4", 1),
    ("10.0.0.1", ["203.0.113.256"], "10.0.0.1", 0),
    ("10.0.0.1", ["203.0.113.5 1.1.1.1"], "10.0.0.1", 0),
    ("10.0.0.1", ["203.0.113.05"], "10.0.0.1", 0), ("10.0.0.1", ["localhost"], "10.0.0.1", 0),
    // Addresses in other spellings.
    ("10.0.0.1", ["203.0.113.5:4711"], "203.0.113.5", 1),
    ("10.0.0.1", ["2001:db8::5"], "2001:db8::5", 1),
    ("10.0.0.1", ["[2001:db8::5]:443"], "2001:db8::5", 1),
    ("10.0.0.1", ["::ffff:203.0.113.5"], "203.0.113.5", 1),
    ("::ffff:10.0.0.1", ["203.0.113.5"], "203.0.113.5", 1),
    ("fd00::1", [" \t203.0.113.5\t "], "203.0.113.5", 1),
    ("10.0.0.1", ["203.0.113.5,::ffff:10.2.3.4"], "203.0.113.5", 2),
  ])
  func `X-Forwarded-For is read from the right as long as the hops are trusted proxies`(
    peer: String, lines: [String], expected: String, hops: Int
  ) throws {
    let origin = try origin(peer, ForwardedHeaders(forwardedFor: lines))
    #expect(origin.address?.description == expected)
    #expect(origin.hops == hops)
  }

  @Test(arguments: [
    ("203.0.113.9", ["for=1.1.1.1"], "203.0.113.9", "http"),
    ("10.0.0.1", ["for=203.0.113.5"], "203.0.113.5", "http"),
    ("10.0.0.1", ["For=203.0.113.5;Proto=https"], "203.0.113.5", "https"),
    ("10.0.0.1", ["for=1.1.1.1;proto=https, for=203.0.113.5;proto=http"], "203.0.113.5", "http"),
    (
      "10.0.0.1", ["for=203.0.113.5;proto=https, for=198.51.100.7;proto=http"], "203.0.113.5",
      "https"
    ),
    ("10.0.0.1", ["for=203.0.113.5;proto=https", "for=198.51.100.7"], "203.0.113.5", "https"),
    ("10.0.0.1", ["for=\"[2001:db8::5]:4711\""], "2001:db8::5", "http"),
    ("10.0.0.1", ["for=\"203.0.113.5:80\";by=10.0.0.1;host=x"], "203.0.113.5", "http"),
    ("10.0.0.1", ["for=unknown;proto=https"], "10.0.0.1", "https"),
    ("10.0.0.1", ["for=_x"], "10.0.0.1", "http"),
    ("10.0.0.1", ["for=203.0.113.5;for=1.1.1.1"], "10.0.0.1", "http"),
    ("10.0.0.1", ["for=203.0.113.5;proto=ftp"], "10.0.0.1", "http"),
    ("10.0.0.1", ["for"], "10.0.0.1", "http"),
    ("10.0.0.1", ["for=203.0.113.5, for=\"1.1.1.1"], "10.0.0.1", "http"),
    ("10.0.0.1", [""], "10.0.0.1", "http"),
    // A comma inside of quotes does not separate entries.
    ("10.0.0.1", ["for=1.1.1.1;x=\",for=2.2.2.2\""], "1.1.1.1", "http"),
  ])
  func `the Forwarded header is read from the right as long as the hops are trusted proxies`(
    peer: String, lines: [String], expected: String, scheme: String
  ) throws {
    let origin = try origin(peer, ForwardedHeaders(forwarded: lines))
    #expect(origin.address?.description == expected)
    #expect(origin.scheme.rawValue == scheme)
  }

  @Test(arguments: [
    (["https"], "https"), (["HTTPS"], "https"), (["http"], "http"), ([], "http"), (["ftp"], "http"),
    (["https, http"], "http"), (["http", "https"], "https"), (["https,"], "http"), ([""], "http"),
  ])
  func `the scheme comes from the last entry, which the nearest proxy wrote`(lines: [String], expected: String) throws {
    let headers = ForwardedHeaders(forwardedFor: ["203.0.113.5"], forwardedProto: lines)
    #expect(try origin("10.0.0.1", headers).scheme.rawValue == expected)
    #expect(try origin("203.0.113.9", headers).scheme == .http)
    let alone = ForwardedHeaders(forwardedProto: lines)
    #expect(try origin("10.0.0.1", alone).scheme.rawValue == expected)
    #expect(try origin("10.0.0.1", alone).address?.description == "10.0.0.1")
  }

  @Test(arguments: [
    "for=1.1.1.1", "for=unknown", "for=_hidden", "for=\"[::1]\"", "for=1.1.1.1;proto=https;host=evil",
    "for=10.0.0.1", "proto=https", ";;;", "for=1.1.1.1, for=2.2.2.2", "for=", "for=203.0.113.5;proto=https;host=evil",
  ])
  func `a client cannot hide its address with a Forwarded header behind a proxy that writes X-Forwarded-For`(
    line: String
  ) throws {
    let claimed = ForwardedHeaders(
      forwarded: [line], forwardedFor: ["203.0.113.5"], forwardedProto: ["http"],
      forwardedHost: ["tv.example"])
    let found = try origin("10.0.0.1", claimed)
    #expect(found.address?.description == "203.0.113.5")
    #expect(found.scheme == .http)
    #expect(found.forwardedHost == HostAndPort(parsing: "tv.example"))
    // A peer that is no trusted proxy is never believed.
    #expect(try origin("203.0.113.9", claimed).address?.description == "203.0.113.9")
  }

  @Test func `Forwarded and X-Forwarded-For are combined if they agree`() throws {
    let agree = ForwardedHeaders(
      forwarded: ["for=203.0.113.5;proto=https"], forwardedFor: ["203.0.113.5"])
    #expect(try origin("10.0.0.1", agree).address?.description == "203.0.113.5")
    #expect(try origin("10.0.0.1", agree).scheme == .https)
  }

  @Test func `a forwarded host is accepted from a trusted proxy only`() throws {
    let common = ForwardedHeaders(forwardedFor: ["203.0.113.5"], forwardedHost: ["TV.example:8443"])
    #expect(try origin("10.0.0.1", common).forwardedHost == HostAndPort(parsing: "tv.example:8443"))
    #expect(try origin("203.0.113.9", common).forwardedHost == nil)
    let standard = ForwardedHeaders(forwarded: ["for=203.0.113.5;host=tv.example"])
    #expect(try origin("10.0.0.1", standard).forwardedHost == HostAndPort(parsing: "tv.example"))
    for host in ["a b", "a/b", "a@b", "", "a\u{0}", "a:99999", "a?b", "a#b", "[::1"] {
      let bad = ForwardedHeaders(forwardedFor: ["203.0.113.5"], forwardedHost: [host])
      #expect(try origin("10.0.0.1", bad).forwardedHost == nil, "\(host)")
    }
  }

  @Test func `at most sixteen hops of a forwarding header are read`() throws {
    let lines = [Array(repeating: "10.0.0.2", count: 1000).joined(separator: ",")]
    let origin = try origin("10.0.0.1", ForwardedHeaders(forwardedFor: lines))
    #expect(origin.hops <= 16)
  }

  @Test func `the peer of a Unix socket is a trusted proxy only if configured`() throws {
    let socket = ClientOrigin(address: nil, scheme: .http)
    let headers = ForwardedHeaders(forwardedFor: ["203.0.113.5"])
    #expect(TrustedProxies().origin(of: socket, claimed: headers).address == nil)
    let trusting = TrustedProxies(trustsLocalSocket: true)
    #expect(trusting.origin(of: socket, claimed: headers).address == IPAddress("203.0.113.5"))
  }

  @Test func `a handler sees the address, scheme and host of the original client`() async throws {
    let inner = ClosureHandler { request in
      let address = request.clientAddress.map { "\($0)" } ?? "-"
      let host = request.forwardedHost.map { "\($0.host)" } ?? "-"
      return .now(.text(.ok, "\(address) \(request.isSecure) \(host)"))
    }
    let proxies = TrustedProxies(try Self.trusted.map { try IPNetwork(parsing: $0) })
    let handler = ForwardedHandler(trusting: proxies, before: inner)
    let headers = [
      (name: "X-Forwarded-For", value: "203.0.113.5"), (name: "X-Forwarded-Proto", value: "https"),
      (name: "X-Forwarded-Host", value: "tv.example"),
    ]
    let near = Peer.network(try #require(IPAddress("10.0.0.1")), port: 1)
    let far = Peer.network(try #require(IPAddress("203.0.113.9")), port: 1)
    let believed = try await InProcessClient(handler, peer: near).get("/", headers: headers)
    #expect(believed.text == "203.0.113.5 true tv.example")
    let ignored = try await InProcessClient(handler, peer: far).get("/", headers: headers)
    #expect(ignored.text == "203.0.113.9 false -")
    let secure = try await InProcessClient(handler, peer: far, isTLS: true).get("/")
    #expect(secure.text == "203.0.113.9 true -")
  }

  private func origin(_ peer: String, _ headers: ForwardedHeaders) throws -> ClientOrigin {
    let proxies = TrustedProxies(try Self.trusted.map { try IPNetwork(parsing: $0) })
    let socket = ClientOrigin(address: IPAddress(peer), scheme: .http)
    return proxies.origin(of: socket, claimed: headers)
  }
}
