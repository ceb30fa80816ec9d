import HTTPServer
import HTTPTestSupport
import PairingStore
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Counts the requests that the poll cache does not answer.
final class CountedHandler: Handler {
  private let next: any Handler
  private let count = Locked(0)
  init(_ next: any Handler) { self.next = next }

  var times: Int { count.withLock { $0 } }

  func handle(_ request: Request) -> Answer {
    count.withLock { $0 += 1 }
    return next.handle(request)
  }
}

private let poll = "/api/v1/tokens/authn?deviceId=box-1&format=json"

extension TestService {
  /// A client of the service with its poll cache, and the counter of requests that passed through the cache.
  fileprivate func watched() throws -> (client: InProcessClient, read: CountedHandler) {
    let read = CountedHandler(try Router(ServiceRoutes.devices(core), refuse: ServiceRoutes.refuse))
    return (InProcessClient(RememberedPolls(core, before: read)), read)
  }

  fileprivate func change(_ change: (inout Requestor) -> Void) async throws {
    let before = try #require(core.provisioning.now.requestor(try named(Sample.requestor)))
    var after = before
    change(&after)
    _ = try await core.store.put(.requestor(after), replacing: .requestor(before), audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }

  fileprivate func revokeKey(_ id: String) async throws {
    try await core.store.setState(of: try named(id), to: .revoked, audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }
}

@Suite struct `The poll cache` {
  @Test func `a repeated poll is parsed once, and each response shows the current state`() async throws {
    let service = try await TestService()
    let (client, read) = try service.watched()
    let access = try await client.access(try await service.statement())
    let code = try await service.code(client)
    _ = try await client.get(poll, headers: [bearer(access)])
    let before = read.times
    for _ in 0..<5 { #expect(try await client.get(poll, headers: [bearer(access)]).status == 404) }
    #expect(read.times == before)
    try await service.approve(code)
    #expect(try await client.get(poll, headers: [bearer(access)]).status == 200)
    #expect(try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1").status == 204)
    #expect(try await client.get(poll, headers: [bearer(access)]).status == 404)
  }

  @Test func `signed polls are parsed once, and each header is accepted once`() async throws {
    let service = try await TestService()
    let (client, read) = try service.watched()
    _ = try await service.code(client)
    _ = try await service.call(client, "GET", poll)
    let before = read.times
    for _ in 0..<5 { #expect(try await service.call(client, "GET", poll).status == 404) }
    #expect(read.times == before)
    let header = try service.signature("GET", "/api/v1/tokens/authn")
    #expect(try await client.get(poll, headers: [header]).status == 404)
    #expect(try await client.get(poll, headers: [header]).status == 401)
    let old = try service.signature(
      "GET", "/api/v1/tokens/authn", at: service.clock.now - .seconds(301))
    #expect(try await client.get(poll, headers: [old]).status == 401)
    let elsewhere = try service.signature("GET", "/api/v1/checkauthn")
    #expect(try await client.get(poll, headers: [elsewhere]).status == 401)
    let forged = try service.signature("GET", "/api/v1/tokens/authn", secret: "another secret")
    #expect(try await client.get(poll, headers: [forged]).status == 401)
    #expect(try await client.get(poll, headers: [("Authorization", "x")]).status == 401)
    #expect(read.times == before)
    #expect(try await client.get(poll).status == 401)
    #expect(read.times == before + 1)
  }

  @Test func `a cached poll is checked against the current keys and signature policy`() async throws {
    let service = try await TestService()
    let (client, read) = try service.watched()
    // Another pair has a connection of its own. Its polls are not cached, because it may have a sign-in of its own for
    // the same device id.
    let (otherClient, _) = try service.watched()
    try await service.addKey("other-key")
    _ = try await service.code(client)
    func status(path: String = "/api/v1/tokens/authn") async throws -> UInt16 {
      try await client.get(poll, headers: [try service.signature("GET", path)]).status
    }
    func statusOfOther() async throws -> UInt16 {
      let header = try service.signature("GET", "/authn", publicKey: "other-key")
      return try await otherClient.get(poll, headers: [header]).status
    }
    // The standard policy accepts the end of the path.
    for _ in 0..<3 { #expect(try await status(path: "/authn") == 404) }
    let before = read.times
    #expect(try await statusOfOther() == 404)
    for _ in 0..<2 { #expect(try await status(path: "/authn") == 404) }
    try await service.change { $0.signaturePolicy = .strict }
    #expect(try await status(path: "/authn") == 401)
    try await service.change { $0.signaturePolicy = .standard }
    for _ in 0..<2 { #expect(try await statusOfOther() == 404) }
    try await service.revokeKey("other-key")
    for _ in 0..<2 { #expect(try await statusOfOther() == 401) }
    #expect(try await status(path: "/authn") == 404)
    #expect(read.times == before)
  }

  @Test func `cached polls update the last use of their key once a minute`() async throws {
    let service = try await TestService()
    let (client, _) = try service.watched()
    let key: PublicKey = try named(Sample.publicKey)
    _ = try await service.code(client)
    let start = service.clock.now
    #expect(service.core.keyUses.of(key) == start)
    for (passed, noted) in [(59, 0), (1, 60), (30, 60), (-80, 10), (3600, 3610)] {
      service.clock.pass(.seconds(passed))
      _ = try await service.call(client, "GET", poll)
      #expect(service.core.keyUses.of(key) == start + .seconds(noted), "\(passed)")
    }
  }

  @Test func `a signed header may be repeated only while the policy of the requestor allows it`() async throws {
    let service = try await TestService()
    let (client, _) = try service.watched()
    _ = try await service.code(client)
    try await service.change { $0.signaturePolicy = .compatible }
    let header = try service.signature("GET", "/api/v1/tokens/authn")
    for _ in 0..<3 { #expect(try await client.get(poll, headers: [header]).status == 404) }
    try await service.change { $0.signaturePolicy = .standard }
    #expect(try await client.get(poll, headers: [header]).status == 404)
    #expect(try await client.get(poll, headers: [header]).status == 401)
  }

  @Test func `a nonce is accepted once, also after the nonces of its key were evicted`() throws {
    let start = Instant(milliseconds: 1_700_000_000_000)
    let nonces = UsedNonces(startingAt: start, keptAs: [], capacity: 100)
    let key: PublicKey = try named("key")
    let look = { (nonce: String, known: KeyNonces?, now: Instant) throws(SignatureRefusal) in
      try nonces.check(nonce.utf8.span, of: key, known, signedAt: now, from: 1, at: now)
    }
    let first = try look("a", nil, start)
    try nonces.take(first, of: key, at: start)
    // Nothing is evicted while one of its nonces could still be replayed, whatever the caller remembers.
    nonces.sweep(keeping: [], at: start)
    #expect(throws: SignatureRefusal.replayed) { try look("a", nil, start) }
    #expect(throws: SignatureRefusal.replayed) { try look("a", first.nonces, start) }
    let late = start + .seconds(601)
    nonces.sweep(keeping: [], at: late)
    let (one, other) = (try look("b", first.nonces, late), try look("b", nil, late))
    #expect(one.nonces === other.nonces && one.nonces !== first.nonces)
    try nonces.take(one, of: key, at: late)
    #expect(throws: SignatureRefusal.replayed) { try nonces.take(other, of: key, at: late) }
    // The nonces are evicted between the check and the use.
    let far = late + .seconds(601)
    let third = try look("c", nil, far)
    nonces.sweep(keeping: [], at: far)
    try nonces.take(third, of: key, at: far)
    #expect(throws: SignatureRefusal.replayed) { try look("c", third.nonces, far) }
    #expect(throws: SignatureRefusal.replayed) { try look("c", nil, far) }
  }

  @Test func `a cached poll is refused when its token expires`() async throws {
    let service = try await TestService()
    let (client, _) = try service.watched()
    let access = try await client.access(try await service.statement())
    service.clock.pass(.seconds(6 * 3600 - 60))
    _ = try await service.code(client)
    for _ in 0..<3 { #expect(try await client.get(poll, headers: [bearer(access)]).status == 404) }
    service.clock.pass(.seconds(60))
    let late = try await client.get(poll, headers: [bearer(access)])
    #expect(late.status == 401 && late.header("www-authenticate") == "Bearer error=\"invalid_token\"")
  }

  @Test func `a cached poll is refused when its application is revoked`() async throws {
    let service = try await TestService()
    let (client, _) = try service.watched()
    let access = try await client.access(try await service.statement())
    _ = try await service.code(client)
    for _ in 0..<3 { #expect(try await client.get(poll, headers: [bearer(access)]).status == 404) }
    try await service.revokeApplication()
    #expect(try await client.get(poll, headers: [bearer(access)]).status == 403)
  }

  @Test func `cached polls count against the rate limit of the device`() async throws {
    let service = try await TestService(options: { $0.limits.device = RateLimit(perSecond: 1, burst: 5) })
    let (client, read) = try service.watched()
    let access = try await client.access(try await service.statement())
    _ = try await service.code(client)
    var statuses: [UInt16] = []
    for _ in 0..<8 { statuses.append(try await client.get(poll, headers: [bearer(access)]).status) }
    #expect(statuses.last == 429)
    let before = read.times
    service.clock.pass(.seconds(1))
    #expect(try await client.get(poll, headers: [bearer(access)]).status == 404)
    #expect(read.times == before)
  }

  @Test func `the cache does not mix up devices, formats or requestors`() async throws {
    let service = try await TestService()
    let (client, _) = try service.watched()
    try await service.addKey("other-key")
    _ = try await service.code(client)
    let named = poll + "&requestor=REF30"
    for _ in 0..<3 { #expect(try await service.call(client, "GET", named).status == 404) }
    #expect(try await service.call(client, "GET", poll.replacing("box-1", with: "box-2")).status == 404)
    let xml = try await service.call(client, "GET", poll.replacing("json", with: "xmll"))
    #expect(xml.text.hasPrefix("<"))
    for _ in 0..<3 { #expect(try await service.call(client, "GET", named).status == 404) }
    // The same headers with a body, which could name another device.
    let header = try service.signature("GET", "/api/v1/tokens/authn")
    let form = TestRequest(
      "GET", named, headers: [header, ("Content-Type", "application/x-www-form-urlencoded")],
      body: Array("deviceId=box-2".utf8))
    #expect(try await client.send(form).status == 400)
  }
}
