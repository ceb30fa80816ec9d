import RegentCryptography
import HTTPTestSupport
import RegentEncodings
import RegentJSON
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing
import XML

@testable import PairingService

/// A box as the tests of entitlement play it: it asks in one of the two forms and reads the answers in it.
struct Box {
  let service: TestService
  var client: any TestClient
  var format = WireFormat.json
  var device = "box-1"

  /// A GET about this device.
  func get(
    _ path: String, _ parameters: KeyValuePairs<String, String> = [:],
    headers: [(name: String, value: String)] = []
  ) async throws -> Reply {
    try await send("GET", path, parameters, headers: headers)
  }

  /// A call about this device.
  func send(
    _ method: String, _ path: String, _ parameters: KeyValuePairs<String, String> = [:],
    headers: [(name: String, value: String)] = []
  ) async throws -> Reply {
    let fields = [("deviceId", device)] + parameters.map { ($0.key, $0.value) }
    let query = fields.map { "\($0.0)=\(PercentEncoded($0.1))" }.joined(separator: "&")
    let response = try await service.call(
      client, method, "\(path).\(format.rawValue)?\(query)", headers: headers)
    return try Reply(response)
  }

  /// Asks for a code and gives it.
  func code(_ parameters: KeyValuePairs<String, String> = [:]) async throws -> String {
    let made = try await send("POST", "/reggie/v1/REF30/regcode", parameters)
    #expect(made.status == 201, "\(made.text)")
    return try #require(made["code"])
  }

  /// Is signed in as the sample account.
  func signIn() async throws {
    try await service.approve(try await code())
    #expect(try await get("/api/v1/tokens/authn").status == 200)
  }

  func authorize(_ resource: String) async throws -> Reply {
    try await get("/api/v1/authorize", ["resource": resource])
  }

  func media(_ resource: String) async throws -> Reply {
    try await get("/api/v1/tokens/media", ["resource": resource])
  }

  /// Which of these may be watched.
  func preauthorize(_ list: String) async throws -> [String: String] {
    let answer = try await get("/api/v1/preauthorize", ["resource": list])
    #expect(answer.status == 200, "\(answer.text)")
    let pairs = answer.items("resources").map { ($0["id"] ?? "", $0["authorized"] ?? "") }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Lets the device in with a temporary pass.
  func preview(_ provider: String, _ parameters: KeyValuePairs<String, String> = [:]) async throws
    -> Reply
  {
    let fields = [("mso_id", provider), ("domain_name", "example.com"), ("requestor_id", "REF30")]
    let all = (fields + parameters.map { ($0.key, $0.value) }).map {
      "\($0.0)=\(PercentEncoded($0.1))"
    }
    return try Reply(
      await service.call(
        client, "POST",
        "/api/v1/authenticate/freepreview.\(format.rawValue)?deviceId=\(device)&"
          + all.joined(separator: "&")))
  }
}

/// A value in a query.
private struct PercentEncoded: CustomStringConvertible {
  let description: String

  init(_ text: String) {
    description = text.utf8.map { byte in
      let isPlain =
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || byte | 0x20 >= 0x61
          && byte | 0x20 <= 0x7A
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }
}

/// An answer, read in whichever form it came.
struct Reply {
  let status: UInt16
  let text: String
  let response: TestResponse
  private let json: JSONValue?
  private let xml: XMLElement?

  init(_ response: TestResponse) throws {
    self.response = response
    status = response.status
    text = response.text
    let type = response.header("content-type") ?? ""
    // Not with `?:`: the `nil` there would be JSON's own.
    var json: JSONValue?
    if type.contains("json") {
      json = try JSONValue(reading: response.body, limits: JSONLimits(depth: 16, bytes: 1 << 20))
    }
    self.json = json
    xml = type.contains("xml") ? try XMLElement(reading: response.body) : nil
  }

  private init(parent: Reply, json: JSONValue?, xml: XMLElement?) {
    response = parent.response
    status = parent.status
    text = parent.text
    self.json = json
    self.xml = xml
  }

  /// A member's text; a number or truth value as it is written.
  subscript(name: String) -> String? {
    guard let json else { return xml?.children(XMLName(name)).first?.text }
    guard let value = json[name], !value.isNull else { return nil }
    return value.string ?? value.description
  }

  /// The members one level down.
  func object(_ name: String) -> Reply {
    Reply(parent: self, json: json?[name], xml: xml?.children(XMLName(name)).first)
  }

  /// Whether there is a member, whatever its value.
  func has(_ name: String) -> Bool {
    json.map { $0[name] != nil } ?? (xml?.children(XMLName(name)).isEmpty == false)
  }

  /// The texts of a list.
  func texts(_ name: String) -> [String] {
    if let json { return json[name]?.array?.compactMap(\.string) ?? [] }
    return xml?.children(XMLName(name)).first?.children.map(\.text) ?? []
  }

  /// The objects of a list; in XML it may be the root.
  func items(_ name: String) -> [Reply] {
    if let json {
      return json[name]?.array?.map { Reply(parent: self, json: $0, xml: nil) } ?? []
    }
    let list = xml?.isNamed(XMLName(name)) == true ? xml : xml?.children(XMLName(name)).first
    return list?.children.map { Reply(parent: self, json: nil, xml: $0) } ?? []
  }
}

/// A service whose requestor is another one than the sample.
func serving(_ change: (inout Requestor) -> Void) async throws -> TestService {
  try await TestService(options: { _ in }, change)
}

// MARK: - What operators change

extension TestService {
  /// Writes records as an operator does.
  func change(_ record: Provision) async throws {
    let there = try await existing(record.id)
    _ = try await core.store.put(record, replacing: there, audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }

  private func existing(_ id: ProvisionID) async throws -> Provision? {
    let all = try await core.store.provisioning()
    switch id {
    case .requestor(let id): return all.requestors[id].map(Provision.requestor)
    case .provider(let id): return all.providers[id].map(Provision.provider)
    case .integration(let one, let other):
      return all.integrations[one]?[other].map(Provision.integration)
    case .account(let provider, let name):
      return try await core.store.account(provider, name).map(Provision.account)
    case .entitlement(let id):
      return all.entitlements.values.joined().first { $0.id == id }.map(Provision.entitlement)
    case .application(let id): return all.applications[id].map(Provision.application)
    }
  }

  /// A rule about everybody at the sample provider.
  func entitle(_ pattern: String, _ effect: EntitlementEffect) async throws {
    try await change(
      .entitlement(
        Entitlement(
          id: try named("rule-\(pattern.filter(\.isLetter))"), provider: try named(Sample.provider),
          scope: .everybody, pattern: try #require(ResourcePattern(pattern)), effect: effect)))
  }

  /// Changes how the sample requestor works with a provider.
  func integrate(_ provider: String = Sample.provider, _ edit: (inout Integration) -> Void)
    async throws
  {
    let id: ProvisionID = .integration(try named(Sample.requestor), try named(provider))
    guard case .integration(var integration)? = try await existing(id) else {
      throw NotThere(what: provider)
    }
    edit(&integration)
    try await change(.integration(integration))
  }

  /// Changes the sample account.
  func account(_ edit: (inout Account) -> Void) async throws {
    let id: ProvisionID = .account(try named(Sample.provider), try named(Sample.account))
    guard case .account(var account)? = try await existing(id) else {
      throw NotThere(what: Sample.account)
    }
    edit(&account)
    try await change(.account(account))
  }

  /// Removes a record.
  func remove(_ id: ProvisionID) async throws {
    _ = try await core.store.remove(id, audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }

  /// Waits for the lines that are written behind an answer; each is under way before its answer is out.
  func auditIsWritten() async throws {
    try await eventually("the lines of the audit log") { core.audit.linesUnderWay == 0 }
  }

  /// The audit lines of an action.
  func audit(_ action: String) async throws -> [AuditEntry] {
    try await core.store.audit(after: 0, limit: 1000).map(\.entry).filter { $0.action == action }
  }
}

struct NotThere: Error { let what: String }

/// A form and a way to send it: every story is told in all of them.
struct Telling: CustomTestStringConvertible, Sendable {
  let transport: TestTransport
  let format: WireFormat
  let enhanced: Bool

  static let all = TestTransport.allCases.flatMap { transport in
    [WireFormat.json, .xml].flatMap { format in
      [false, true].map { Telling(transport: transport, format: format, enhanced: $0) }
    }
  }

  var testDescription: String {
    "\(format.rawValue), \(transport), \(enhanced ? "enhanced" : "generic") errors"
  }

  /// Runs a story with a box that tells it so.
  func run(
    _ service: TestService? = nil, isolation: isolated (any Actor)? = #isolation,
    _ story: (Box) async throws -> Void
  ) async throws {
    let running: TestService
    if let service {
      running = service
    } else {
      running = try await serving { $0.enhancedErrors = enhanced }
    }
    try await transport.withClient(of: try running.router()) { client in
      try await story(Box(service: running, client: client, format: format))
    }
  }
}
