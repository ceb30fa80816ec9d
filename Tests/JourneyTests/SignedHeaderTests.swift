import RegentCryptography
import HTTPTestSupport
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

private let path = "/api/v1/config/REF30"

/// A header with one error.
private struct BadHeader: CustomTestStringConvertible, Sendable {
  let name: String
  let make: @Sendable (TestService) throws -> [String]
  var testDescription: String { name }
}

private func changing(_ name: String, _ change: @escaping @Sendable (String) -> String) -> BadHeader {
  BadHeader(name: name) { service in [change(try service.signature("GET", path).value)] }
}

private let badHeaders: [BadHeader] = [
  BadHeader(name: "none") { _ in [] },
  BadHeader(name: "empty") { _ in [""] },
  BadHeader(name: "repeated") { service in
    [try service.signature("GET", path).value, try service.signature("GET", path).value]
  },
  changing("without requestor_id") { $0.without("requestor_id") },
  changing("without nonce") { $0.without("nonce") },
  changing("without signature_method") { $0.without("signature_method") },
  changing("without request_time") { $0.without("request_time") },
  changing("without request_uri") { $0.without("request_uri") },
  changing("without public_key") { $0.without("public_key") },
  changing("without signature") { $0.without("signature") },
  changing("without method") { String($0.dropFirst(4)) },
  changing("empty signature") { $0.cut(before: "signature=") + "signature=" },
  changing("other signature") {
    $0.cut(before: "signature=") + "signature=AAAAAAAAAAAAAAAAAAAAAAAAAAA="
  },
  changing("signature with a space") { $0.replacing(", signature=", with: ", signature= ") },
  changing("signature without padding") { String($0.dropLast()) },
  changing("signature of one byte less") {
    $0.cut(before: "signature=") + "signature=AAAAAAAAAAAAAAAAAAAAAAAAAA=="
  },
  changing("a field changed after signing") { $0.replacing("nonce=", with: "nonce=x") },
  changing("a field twice") { $0.replacing("nonce=", with: "nonce=x, nonce=") },
  changing("quotes") { $0.replacing("requestor_id=REF30", with: "requestor_id=\"REF30\"") },
  changing("another separator") { $0.replacing(", public_key", with: ",public_key") },
  changing("key twice") { $0 + ", public_key=\(Sample.publicKey)" },
  changing("too long") { $0 + String(repeating: "x", count: 5000) },
  changing("basic") { _ in "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" },
  BadHeader(name: "seconds instead of milliseconds") { service in
    let seconds = Instant(milliseconds: service.clock.now.milliseconds / 1000)
    return [try service.signature("GET", path, at: seconds).value]
  },
  BadHeader(name: "stale") { service in
    [try service.signature("GET", path, at: service.clock.now - .milliseconds(300_001)).value]
  },
  BadHeader(name: "of the future") { service in
    [try service.signature("GET", path, at: service.clock.now + .milliseconds(300_001)).value]
  },
  BadHeader(name: "before the service started") { service in
    [try service.signature("GET", path, at: service.clock.now - .seconds(2)).value]
  },
  BadHeader(name: "unknown key") { service in
    [try service.signature("GET", path, publicKey: "anotherKey").value]
  },
  BadHeader(name: "wrong secret") { service in
    [try service.signature("GET", path, secret: "another").value]
  },
  BadHeader(name: "key of rows") { service in
    [
      try service.signature(
        "GET", path, publicKey: "rowsOfREF30", secret: "a secret that never leaves the service"
      ).value
    ]
  },
  BadHeader(name: "other requestor") { service in
    [try service.signature("GET", path, requestor: "OTHER", secret: "another").value]
  },
  BadHeader(name: "other method") { service in [try service.signature("POST", path).value] },
  BadHeader(name: "method in small letters") { service in
    [try service.signature("get", path).value]
  },
  BadHeader(name: "other path") { service in
    [try service.signature("GET", "/api/v1/config/OTHER").value]
  },
  BadHeader(name: "half a segment of the path") { service in
    [try service.signature("GET", "fig/REF30").value]
  },
  BadHeader(name: "only a slash") { service in [try service.signature("GET", "/").value] },
  BadHeader(name: "only a query") { service in [try service.signature("GET", "?").value] },
  BadHeader(name: "a longer path") { service in [try service.signature("GET", "/x\(path)").value] },
]

@Suite struct `Signed requests` {
  @Test(arguments: badHeaders)
  private func `each wrong signed header is refused with the same bytes as a missing one`(bad: BadHeader) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let expected = try await client.get(path)
      #expect(expected.status == 401)
      #expect(expected.text.contains("<message>Not Authorized</message>"))
      let answer = try await client.get(
        path, headers: try bad.make(service).map { (name: "Authorization", value: $0) })
      #expect(answer.described == expected.described)
    }
  }

  @Test func `a client that has the secret of the key pair but names another requestor is told so`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.get(path, headers: [try service.signature("GET", path, requestor: "OTHER")])
      #expect(answer.status == 401)
      #expect(answer.text.contains("<details>the key pair belongs to another requestor</details>"))
    }
  }

  @Test func `a refusal has a Date header, so that a client can correct its clock`() async throws {
    let service = try await TestService()
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      let answer = try await client.get(path)
      #expect(answer.header("date") != nil)
    }
  }

  @Test func `each key can use a nonce once`() async throws {
    let service = try await TestService()
    try await service.addKey("second", "second secret")
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let first = try service.signature("GET", path, nonce: "n")
      #expect(try await client.get(path, headers: [first]).status == 200)
      let replayed = try await client.get(path, headers: [first])
      #expect(replayed.described == (try await client.get(path).described))
      let other = try service.signature(
        "GET", path, nonce: "n", publicKey: "second", secret: "second secret")
      #expect(try await client.get(path, headers: [other]).status == 200)
      service.clock.pass(.seconds(299))
      #expect(try await client.get(path, headers: [first]).status == 401)
      service.clock.pass(.seconds(301))
      #expect(
        try await client.get(path, headers: [try service.signature("GET", path, nonce: "n")]).status
          == 200)
    }
  }

  @Test func `a nonce of a refused request is not used up`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let forged = try service.signature("GET", path, nonce: "n", secret: "wrong")
      #expect(try await client.get(path, headers: [forged]).status == 401)
      let good = try service.signature("GET", path, nonce: "n")
      #expect(try await client.get(path, headers: [good]).status == 200)
    }
  }

  @Test func `a revoked key is refused, and calls of a retired key are accepted and counted`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let key: PublicKey = try named(Sample.publicKey)
      for (state, status) in [(.retired, 200), (.revoked, 401)] as [(KeyPair.State, UInt16)] {
        try await service.core.store.setState(
          of: key, to: state, audit: nil, at: service.clock.now)
        try await service.core.refreshProvisioning()
        #expect(service.core.metrics.now[.callsByRetiredKeys] == 0 || state == .revoked)
        #expect(try await service.call(client, "GET", path).status == status)
        // A refused request of a revoked key is not counted.
        #expect(service.core.metrics.now[.callsByRetiredKeys] == 1)
      }
    }
  }

  @Test(
    arguments: [
      ("/api/v1/config/REF30", 200), ("/config/REF30", 200), ("/REF30", 200),
      ("/api/v1/config/REF30?x=1", 200), ("/api/v1/config/REF30.json", 200),
      ("/config/REF30.xml", 401), ("/config/REF3", 401), ("config/REF30", 401),
      ("//api/v1/config/REF30", 401), ("https://tv.example.org/api/v1/config/REF30", 401),
    ] as [(String, UInt16)])
  func `a signature may cover the whole path or whole trailing segments, and nothing else`(
    signed: String, status: UInt16
  ) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let header = try service.signature("GET", signed)
      #expect(
        try await client.get("/api/v1/config/REF30.json?y=2", headers: [header]).status == status)
    }
  }

  @Test(arguments: SignaturePolicy.allCases, SignatureMethod.allCases)
  func `each signature policy accepts the headers that it allows and no others`(
    policy: SignaturePolicy, method: SignatureMethod
  ) async throws {
    let service = try await TestService(options: { _ in }) { $0.signaturePolicy = policy }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      func status(_ header: (name: String, value: String)) async throws -> UInt16 {
        try await client.get(path, headers: [header]).status
      }
      let isStrictEnough: UInt16 = policy == .strict && method == .hmacSHA1 ? 401 : 200
      let whole = try service.signature("GET", path, using: method)
      #expect(try await status(whole) == isStrictEnough)
      #expect(try await status(whole) == (policy == .compatible ? 200 : 401))
      let short = try service.signature("GET", "/config/REF30", using: method)
      #expect(try await status(short) == (policy == .strict ? 401 : 200))
      let other = try service.signature("POST", "/regcode", using: method)
      #expect(try await status(other) == (policy == .compatible ? 200 : 401))
      let stale = try service.signature(
        "GET", path, using: method, at: service.clock.now - .seconds(301))
      #expect(try await status(stale) == 401)
    }
  }

  @Test(arguments: [
    ("POST", "6f1c9c3e-0d2b-4a53-9c5e-1f2a3b4c5d6e", "/regcode", "cIQcUBa4DJSVCMD0cHgs9n2YYu8="),
    (
      "GET", "00000000-0000-4000-8000-000000000001", "/tokens/authn", "wVkRPK6gou9VzesxQm0Bo9fbuDk="
    ),
  ])
  func `the service accepts the two published signature vectors`(
    method: String, nonce: String, uri: String, signature: String
  )
    async throws
  {
    // The test clock starts at the time of the vectors, which is also the start of the service.
    let service = try await TestService()
    #expect(service.clock.now.milliseconds == 1_700_000_000_000)
    let header =
      "\(method) requestor_id=REF30, nonce=\(nonce), signature_method=HMAC-SHA1, "
      + "request_time=1700000000000, request_uri=\(uri), public_key=examplePublicKey0000000000000000, "
      + "signature=\(signature)"
    let target =
      method == "POST"
      ? "/reggie/v1/REF30/regcode?deviceId=d" : "/api/v1/tokens/authn?deviceId=d&requestor=REF30"
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.send(
        TestRequest(method, target, headers: [("Authorization", header)]))
      #expect(answer.status == (method == "POST" ? 201 : 404))
    }
  }
}

extension String {
  /// The header without one of its fields.
  fileprivate func without(_ field: String) -> String {
    guard let start = firstRange(of: "\(field)=") else { return self }
    let rest = self[start.upperBound...]
    guard let end = rest.firstRange(of: ", ") else {
      return String(self[..<start.lowerBound].dropLast(2))
    }
    return String(self[..<start.lowerBound] + rest[end.upperBound...])
  }

  fileprivate func cut(before text: String) -> String {
    firstRange(of: text).map { String(self[..<$0.lowerBound]) } ?? self
  }
}

extension TestResponse {
  /// The whole response without its Date header.
  var described: String {
    let lines = headers.filter { $0.name.lowercased() != "date" }.map { "\($0.name): \($0.value)" }
    return "\(status)\n\(lines.joined(separator: "\n"))\n\n\(text)"
  }
}
