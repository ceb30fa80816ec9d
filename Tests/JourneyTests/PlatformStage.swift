import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

/// A service with a box maker, a signed-in box with an enrolled key, and an app that may use the box's sign-in.
struct PlatformStage {
  let service: TestService
  let client: any TestClient
  var key: SigningKey
  var box = ""
  /// Whether the box signs its decisions, which boxes of version 0.1.0 do not.
  var signs = true

  static let maker = "BOXMAKER"
  static let device = "app-1"

  init(_ client: any TestClient, _ service: TestService) async throws {
    self.service = service
    self.client = client
    key = try SigningKey.generate(.edDSA)
    try await provision()
    try await signInBox()
  }

  private func provision() async throws {
    let now = service.core.clock.now
    let store = service.core.store
    func put(_ record: Provision, over seen: Provision? = nil) async throws {
      _ = try await store.put(record, replacing: seen, audit: nil, at: now)
    }
    try await put(.requestor(Requestor(id: try named(Self.maker), name: "Box maker", isPlatform: true)))
    for (id, purpose) in [("makerCalls", KeyPair.Purpose.calls), ("makerRows", .rows)] {
      try await store.add(
        KeyPair(
          publicKey: try named(id), requestor: try named(Self.maker), purpose: purpose,
          secret: StoredSecret(Array("maker secret".utf8)), created: now), audit: nil, at: now)
    }
    let provider: ProviderID = try named(Sample.provider)
    try await put(.integration(Integration(requestor: try named(Self.maker), provider: provider)))
    let records = try await store.provisioning()
    var supported = try #require(records.providers[provider])
    supported.boarding = .supported
    try await put(.provider(supported), over: records.providers[provider].map { .provider($0) })
    try await service.core.refreshProvisioning()
    try await change { $0.singleSignOn = true }
  }

  /// Changes the integration of the app's requestor with the provider.
  func change(_ change: (inout Integration) -> Void) async throws {
    let there = try #require(
      try await service.core.store.provisioning().integrations[try named(Sample.requestor)]?[try named(Sample.provider)]
    )
    var next = there
    change(&next)
    _ = try await service.core.store.put(
      .integration(next), replacing: .integration(there), audit: nil, at: service.core.clock.now)
    try await service.core.refreshProvisioning()
  }

  /// Signs the box in, possibly again, and enrols its key.
  mutating func signInBox() async throws {
    try await approveBox()
    let enrolled = try await enrol(key)
    #expect(enrolled.status == 200, "\(enrolled.text)")
    box = try enrolled.json().string("box")
  }

  /// Signs the box in; it has no key then.
  func approveBox() async throws {
    let made = try await asBox("POST", "/reggie/v1/\(Self.maker)/regcode")
    try await service.approve(try made.json().string("code"))
    #expect(try await asBox("GET", "/api/v1/tokens/authn").status == 200)
  }

  func enrol(_ key: SigningKey) async throws -> TestResponse {
    try await asBox(
      "POST", Paths.platformKey,
      [("publicKey", Base64.encode(key.publicKey.spki))] + (signs ? [("decisions", "signed")] : []))
  }

  func asBox(
    _ method: String, _ path: String, _ form: [(String, String)] = [], headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    let signed = try service.signature(
      method, path, requestor: Self.maker, publicKey: "makerCalls", secret: "maker secret")
    return try await client.send(
      TestRequest(
        method, "\(path)?deviceId=the-box&format=json", headers: [signed] + headers + (form.isEmpty ? [] : [formType]),
        body: encoded(form)))
  }

  func asApp(
    _ method: String, _ path: String, _ form: [(String, String)] = [], device: String = PlatformStage.device,
    headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    try await client.send(
      TestRequest(
        method, "\(path)?deviceId=\(device)&format=json",
        headers: [try service.signature(method, path)] + headers + (form.isEmpty ? [] : [formType]), body: encoded(form)
      ))
  }

  func request(device: String = PlatformStage.device) async throws -> String {
    let answer = try await asApp("GET", "/api/v1/REF30/profile-requests/local", device: device)
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.header("content-type") == "application/octet-stream")
    return answer.text
  }

  /// Makes a box assertion; a test sets the part that should be wrong.
  func word(
    _ request: String, box: String? = nil, provider: String = Sample.provider, app: String = "kodi",
    audience: String = "https://tv.example.org", issued: Instant? = nil, key: SigningKey? = nil,
    type: String = PlatformAssertion.type, keyID: String? = nil
  ) throws -> String {
    let assertion = PlatformAssertion(
      box: box ?? self.box, audience: audience, request: request, provider: try named(provider), app: app,
      issued: issued ?? service.core.clock.now)
    return try JWS.sign(
      assertion.claims.bytes(), with: key ?? self.key, keyID: keyID ?? box ?? self.box, type: type)
  }

  func exchange(
    _ word: String, provider: String = Sample.provider, device: String = PlatformStage.device,
    headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    try await asApp(
      "POST", Paths.authenticationToken, [("mvpd", provider), ("SAMLResponse", word), ("deviceType", "linux")],
      device: device, headers: headers)
  }

  /// Reports a decision of the viewer about the app, as the box does, and returns the status.
  func decide(
    _ permission: String, app: String = "kodi", _ more: [(String, String)] = []
  ) async throws -> UInt16 {
    // Two decisions never have the same millisecond.
    service.clock.pass(.milliseconds(1))
    guard signs else { return try await plainDecision(permission, app: app, more).status }
    let age = more.first { $0.0 == "decisionAge" }.flatMap { Int64($0.1) }
    return try await send(try decision(permission, app: app, age: .milliseconds(age ?? 0))).status
  }

  /// Sends a decision without a signature, as boxes of version 0.1.0 do.
  func plainDecision(
    _ permission: String, app: String = "kodi", _ more: [(String, String)] = []
  ) async throws -> TestResponse {
    try await asBox(
      "POST", Paths.platformPermission,
      [("app", app), ("appRequestor", Sample.requestor), ("permission", permission)] + more)
  }

  func send(_ decision: String) async throws -> TestResponse {
    try await asBox("POST", Paths.platformPermission, [("decision", decision)])
  }

  /// Signs a decision as the box does; a test sets the part that should be wrong.
  func decision(
    _ permission: String, app: String = "kodi", age: Duration = .zero, id: String = Random.uuid(), box: String? = nil,
    issued: Instant? = nil, key: SigningKey? = nil, type: String = PlatformDecision.type
  ) throws -> String {
    let decision = PlatformDecision(
      id: id, box: box ?? self.box, app: app, requestor: Sample.requestor, permission: permission, age: age,
      issued: issued ?? service.core.clock.now)
    return try JWS.sign(decision.claims.bytes(), with: key ?? self.key, keyID: self.box, type: type)
  }

  /// Exchanges the assertion and returns "204" or the reason of the refusal.
  func verdict(_ word: String, provider: String = Sample.provider, device: String = PlatformStage.device) async throws
    -> String
  {
    let answer = try await exchange(word, provider: provider, device: device)
    return answer.status == 400 ? try answer.json().string("details") : "\(answer.status)"
  }

  private var formType: (name: String, value: String) { ("Content-Type", "application/x-www-form-urlencoded") }

  private func encoded(_ form: [(String, String)]) -> [UInt8] {
    Array(form.map { "\($0.0)=\(PercentForm.encode($0.1))" }.joined(separator: "&").utf8)
  }
}

private enum PercentForm {
  static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: String(UnicodeScalar(byte))
      default: "%" + Hex.encode([byte]).uppercased()
      }
    }.joined()
  }
}
