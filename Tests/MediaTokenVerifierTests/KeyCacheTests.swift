import RegentJSON
import RegentCryptography
import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPlatform
import TestSupport
import Testing

@testable import MediaTokenVerifier

@Suite("Key cache of the media token verifier")
struct KeyCacheTests {
  let mint = Mint.shared

  @Test func `concurrent verifications fetch the keys once`() async throws {
    let service = try KeyService(mint.keySet.json.description)
    defer { startThread { service.server.stop() } }
    let verifier = MediaTokenVerifier(keys: .url(service.url))
    let token = try mint.token()
    #expect(verifier.verifyNow("x", requestor: "SPORT", at: mint.now).verdict == .invalidFormat)
    await withTaskGroup(of: MediaTokenVerdict.self) { group in
      for _ in 0..<20 {
        group.addTask { await verifier.verify(token, requestor: "SPORT", at: mint.now).verdict }
      }
      for await verdict in group { #expect(verdict == .valid) }
    }
    #expect(service.asked == 1)
    #expect(verifier.verifyNow(token, requestor: "SPORT", at: mint.now).verdict == .valid)
  }

  @Test func `an unknown key id causes a new fetch, but not at once and not often`()
    async throws
  {
    let service = try KeyService(mint.keySet.json.description)
    defer { startThread { service.server.stop() } }
    let clock = TestUptime()
    let cache = KeyCache(.url(service.url), wallClock: { 0 }, uptime: { clock.now })
    _ = await cache.key("key-1")
    #expect(service.asked == 1)
    let other = try SigningKey.generate(.rs256, rsaBits: 2048)
    service.say(
      JWKSet([JWK(other.publicKey, keyID: "key-2")]).json.description)
    for _ in 0..<50 { _ = await cache.key("made-up") }
    #expect(service.asked == 1)
    clock.advance(.seconds(16))
    for _ in 0..<50 { _ = await cache.key("key-2") }
    #expect(service.asked == 2)
    #expect(cache.keys?.keys("key-2", .rs256).count == 1)
  }

  @Test func `keys stay in use when the service fails and are renewed when it works again`()
    async throws
  {
    let service = try KeyService(mint.keySet.json.description)
    defer { startThread { service.server.stop() } }
    let clock = TestUptime()
    let cache = KeyCache(.url(service.url), wallClock: { 0 }, uptime: { clock.now })
    _ = await cache.key("key-1")
    service.say("<html>out of order</html>", status: 503)
    clock.advance(.seconds(3_600))
    _ = await cache.key("made-up")
    #expect(service.asked == 2)
    #expect(cache.keys?.keys("key-1", .rs256).count == 1)
    service.say(mint.keySet.json.description)
    clock.advance(.seconds(16))
    _ = await cache.key("made-up")
    #expect(service.asked == 3)
    #expect(cache.keys?.keys("key-1", .rs256).count == 1)
  }

  @Test(arguments: [
    ("max-age=1", 59, 1), ("max-age=1", 61, 2), ("max-age=600", 599, 1), ("max-age=600", 601, 2),
    ("max-age=999999999", 86_399, 1), ("max-age=999999999", 86_401, 2), ("", 299, 1), ("", 301, 2),
  ])
  func `keys are renewed after the max-age of the response, between one minute and one day`(
    header: String, seconds: Int, asked: Int
  ) async throws {
    let service = try KeyService(mint.keySet.json.description, cacheControl: header)
    defer { startThread { service.server.stop() } }
    let clock = TestUptime()
    let cache = KeyCache(.url(service.url), wallClock: { 0 }, uptime: { clock.now })
    _ = await cache.key("key-1")
    clock.advance(.seconds(seconds))
    // Asking for an unknown id waits for a renewal that is due. The unknown id alone causes none this early.
    _ = await cache.key(asked == 2 ? "made-up" : "key-1")
    #expect(service.asked == asked)
  }

  @Test(arguments: [
    "<html>", "", "{}", #"{"keys":[]}"#, "far too large",
  ])
  func `a document that is not a key set or is too large fails with a reason`(
    document: String
  )
    async throws
  {
    let isLarge = document == "far too large"
    let spaces = String(repeating: " ", count: 100_000)
    let service = try KeyService(
      isLarge ? mint.keySet.json.description + spaces : document)
    defer { startThread { service.server.stop() } }
    let verifier = MediaTokenVerifier(keys: .url(service.url))
    await #expect(throws: MediaTokenKeyError.self) { try await verifier.prepare() }
    #expect(await verifier.verify(try mint.token(), requestor: "SPORT", at: mint.now).verdict == .unknown)
  }

  @Test func `keys from a file are available at once, and later changes of the file are read`() async throws {
    try await withTemporaryFolder { folder in
      let path = "\(folder)/keys.json"
      let other = try SigningKey.generate(.rs256, rsaBits: 2048)
      try writeFile(path, JWKSet([JWK(other.publicKey, keyID: "old")]).json.bytes(), mode: 0o644)
      let verifier = MediaTokenVerifier(keys: .file(path))
      #expect(verifier.hasKeys)
      try writeFile(path, mint.keySet.json.bytes(), mode: 0o644)
      #expect(await verifier.verify(try mint.token(), requestor: "SPORT", at: mint.now).verdict == .valid)
    }
  }
}

final class TestUptime: Sendable {
  private let nanoseconds = Locked<UInt64>(1_000_000_000_000)

  var now: UInt64 { nanoseconds.withLock { $0 } }

  func advance(_ span: Duration) { nanoseconds.withLock { $0 += span.wholeNanoseconds } }
}

/// A service that publishes keys and counts the requests for them.
final class KeyService: Sendable {
  let server: Server
  let url: String
  private let state: SharedState

  private final class SharedState: Sendable {
    let value: Locked<(text: String, status: UInt16, asked: Int)>
    init(_ text: String) { value = Locked((text, 200, 0)) }
  }

  init(_ document: String, cacheControl: String = "max-age=300") throws {
    let state = SharedState(document)
    self.state = state
    let handler = ClosureHandler { _ in
      let (text, status, _) = state.value.withLock { value in
        value.asked += 1
        return value
      }
      var response = Response.text(Status(status), text)
      if !cacheControl.isEmpty { response.addHeader(.cacheControl, cacheControl) }
      return .now(response)
    }
    var configuration = ServerConfiguration()
    configuration.loops = 1
    server = try Server(
      [Listener(.network(.loopback, port: 0), handler: handler)], configuration: configuration)
    url = "http://\(server.addresses[0])/oauth/jwks.json"
  }

  var asked: Int { state.value.withLock { $0.asked } }

  func say(_ text: String, status: UInt16 = 200) {
    state.value.withLock { value in
      value.text = text
      value.status = status
    }
  }
}
