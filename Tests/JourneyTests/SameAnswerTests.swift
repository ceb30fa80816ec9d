import HTTPServer
import HTTPTestSupport
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// One request, in parts that the test changes one at a time.
private struct RequestVariant {
  var target = "/api/v1/tokens/authn"
  var query = "deviceId=box-1&format=json"
  var method = "GET"
  var credentials = Credentials.signed
  /// Other header lines, before and after `Authorization`.
  var before: [(name: String, value: String)] = []
  var behind: [(name: String, value: String)] = []
  var body = ""

  enum Credentials: CaseIterable {
    case signed, signedByTheOtherKey, forged, old, elsewhere, token, otherToken, noToken, word, twice, none
  }

  mutating func change(_ generator: inout SeededGenerator) {
    let pick = { (all: [String], generator: inout SeededGenerator) in all.randomElement(using: &generator) ?? "" }
    switch Int.random(in: 0..<14, using: &generator) {
    case 0:
      target = pick(
        [
          "/api/v1/tokens/authn", "/api/v1/tokens/authn.json", "/api/v1/tokens/authn.xml", "/api/v1/checkauthn",
          "/api/v1/tokens/authz", "/api/v1/authenticate/AAAAAAA", "/api/v1/tokens/aut%68n", "/api/v1//tokens/authn",
        ], &generator)
    case 1:
      query = pick(
        [
          "deviceId=box-1&format=json", "deviceId=box-2&format=json", "deviceId=box-1&format=xmll", "deviceId=box-1",
          "format=json&deviceId=box-1", "deviceId=box-1&deviceId=box-2", "deviceId=box-1&requestor=REF30",
          "deviceId=box-1&requestor=OTHER", "deviceId=", "deviceId=box%2d1&format=json", "deviceId=box-1&%",
        ], &generator)
    case 2: method = pick(["GET", "GET", "GET", "HEAD", "POST", "DELETE"], &generator)
    case 3:
      before =
        [[], [("Origin", "https://app.example")], [("Accept", "application/xml")], [("X", "y")]]
        .randomElement(using: &generator) ?? []
    case 4:
      behind =
        [
          [], [("Prefer", "wait=0")], [("Accept", "text/xml")], [("Cookie", "a=b")], [("AUTHORIZATION", "Bearer x")],
        ].randomElement(using: &generator) ?? []
    case 5: body = pick(["", "", "deviceId=box-2"], &generator)
    case 6..<10: credentials = Credentials.allCases.randomElement(using: &generator) ?? .none
    default: break
    }
  }
}

extension TestService {
  /// Makes the request with fresh credentials, because each nonce is accepted once.
  fileprivate func request(_ words: RequestVariant, _ tokens: [String]) throws -> TestRequest {
    func signed(_ path: String, at time: Instant? = nil, key: String = Sample.publicKey, secret: String = Sample.secret)
      throws -> [(name: String, value: String)]
    {
      [try signature(words.method, path, at: time, publicKey: key, secret: secret)]
    }
    let credentials: [(name: String, value: String)] =
      switch words.credentials {
      case .signed: try signed(words.target)
      case .signedByTheOtherKey: try signed(words.target, key: "other-key")
      case .forged: try signed(words.target, secret: "another secret")
      case .old: try signed(words.target, at: clock.now - .seconds(301))
      case .elsewhere: try signed("/api/v1/logout")
      case .token: [bearer(tokens[0])]
      case .otherToken: [bearer(tokens[1])]
      case .noToken: [bearer("no.token.here")]
      case .word: [("Authorization", "x")]
      case .twice: [bearer(tokens[0]), bearer(tokens[1])]
      case .none: []
      }
    var headers = words.before + credentials + words.behind
    if !words.body.isEmpty { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
    return TestRequest(
      words.method, words.target + "?" + words.query, headers: headers, body: Array(words.body.utf8))
  }
}

@Suite struct `The poll cache compared with no cache` {
  /// The changes between the steps, in this order.
  ///
  /// Each of them changes a response.
  private func change(_ number: Int, _ service: TestService, _ client: InProcessClient, _ codes: inout [String])
    async throws
  {
    switch number {
    case 1: codes.append(try await service.code(client, "box-2"))
    case 2: _ = try await service.approve(codes[0])
    case 3: _ = try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1")
    case 4: codes.append(try await service.code(client))
    case 5: try await service.addKey("other-key")
    case 6: service.clock.pass(.seconds(5 * 3600))
    case 7: codes.append(try await service.code(client))
    case 8: service.clock.pass(.seconds(2 * 3600))
    case 9: codes.append(try await service.code(client))
    default: try await service.revokeApplication()
    }
  }

  @Test(arguments: 1...4)
  func `random requests get the same response with and without the poll cache`(seed: UInt64) async throws {
    let service = try await TestService(options: {
      $0.limits.device = RateLimit(perSecond: 10_000, burst: 100_000)
    })
    let router = try Router(ServiceRoutes.devices(service.core), refuse: ServiceRoutes.refuse)
    let plain = InProcessClient(router)
    let counted = CountedHandler(router)
    let remembering = InProcessClient(RememberedPolls(service.core, before: counted))
    var tokens: [String] = []
    let statement = try await service.statement()
    for _ in 0..<2 { tokens.append(try await plain.access(statement)) }
    var codes = [try await service.code(plain)]
    var generator = SeededGenerator(state: seed)
    var words = RequestVariant()
    var (asked, statuses) = (0, [UInt16: Int]())
    for step in 0..<11 {
      if step > 0 { try await change(step, service, plain, &codes) }
      for number in 0..<120 {
        // As a box polls: mostly the same request, and back to the usual one now and then.
        if number.isMultiple(of: 3) { words.change(&generator) }
        if number.isMultiple(of: 20) { words = RequestVariant() }
        let expected = try await plain.send(try service.request(words, tokens))
        let found = try await remembering.send(try service.request(words, tokens))
        #expect(found.status == expected.status, "\(words)")
        #expect(found.text == expected.text, "\(words)")
        #expect(found.header("www-authenticate") == expected.header("www-authenticate"), "\(words)")
        #expect(found.header("content-type") == expected.header("content-type"), "\(words)")
        #expect(
          found.header("access-control-allow-origin") == expected.header("access-control-allow-origin"), "\(words)")
        asked += 1
        statuses[found.status, default: 0] += 1
      }
    }
    // The test proves something only if the cache answers some requests and the responses differ.
    #expect(counted.times < asked * 9 / 10, "\(counted.times) of \(asked) requests passed through the cache")
    #expect(statuses.count > 4, "\(statuses)")
  }
}
