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

/// A box as the entitlement tests play it: it sends requests and reads responses in one of the two formats.
struct Box {
  let service: TestService
  var client: any TestClient
  var format = WireFormat.json
  var device = "box-1"

  func get(
    _ path: String, _ parameters: KeyValuePairs<String, String> = [:],
    headers: [(name: String, value: String)] = []
  ) async throws -> Reply {
    try await send("GET", path, parameters, headers: headers)
  }

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

  /// Requests a registration code and returns it.
  func code(_ parameters: KeyValuePairs<String, String> = [:]) async throws -> String {
    let made = try await send("POST", "/reggie/v1/REF30/regcode", parameters)
    #expect(made.status == 201, "\(made.text)")
    return try #require(made["code"])
  }

  /// Signs the box in as the sample account.
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

  /// Returns, for each resource of a comma-separated list, whether the viewer may watch it.
  func preauthorize(_ list: String) async throws -> [String: String] {
    let answer = try await get("/api/v1/preauthorize", ["resource": list])
    #expect(answer.status == 200, "\(answer.text)")
    let pairs = answer.items("resources").map { ($0["id"] ?? "", $0["authorized"] ?? "") }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Signs the device in with a temporary pass.
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

/// A value, percent-encoded for a query.
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

/// A response, read as JSON or XML by its content type.
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
    // Not with `?:`, where `nil` would mean JSON's null.
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

  /// The text of a member.
  ///
  /// Numbers and booleans are returned as written.
  subscript(name: String) -> String? {
    guard let json else { return xml?.children(XMLName(name)).first?.text }
    guard let value = json[name], !value.isNull else { return nil }
    return value.string ?? value.description
  }

  /// The members of a nested object.
  func object(_ name: String) -> Reply {
    Reply(parent: self, json: json?[name], xml: xml?.children(XMLName(name)).first)
  }

  /// Whether the member exists, whatever its value.
  func has(_ name: String) -> Bool {
    json.map { $0[name] != nil } ?? (xml?.children(XMLName(name)).isEmpty == false)
  }

  /// The strings of a list.
  func texts(_ name: String) -> [String] {
    if let json { return json[name]?.array?.compactMap(\.string) ?? [] }
    return xml?.children(XMLName(name)).first?.children.map(\.text) ?? []
  }

  /// The objects of a list, which in XML may be the root element.
  func items(_ name: String) -> [Reply] {
    if let json {
      return json[name]?.array?.map { Reply(parent: self, json: $0, xml: nil) } ?? []
    }
    let list = xml?.isNamed(XMLName(name)) == true ? xml : xml?.children(XMLName(name)).first
    return list?.children.map { Reply(parent: self, json: nil, xml: $0) } ?? []
  }
}

/// A service whose sample requestor is changed by `change` before it starts.
func serving(_ change: (inout Requestor) -> Void) async throws -> TestService {
  try await TestService(options: { _ in }, change)
}

// MARK: - What operators change

extension TestService {
  /// Writes a record as an operator would.
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

  /// Adds a rule that applies to every account of the sample provider.
  func entitle(_ pattern: String, _ effect: EntitlementEffect) async throws {
    try await change(
      .entitlement(
        Entitlement(
          id: try named("rule-\(pattern.filter(\.isLetter))"), provider: try named(Sample.provider),
          scope: .everybody, pattern: try #require(ResourcePattern(pattern)), effect: effect)))
  }

  /// Changes the integration of the sample requestor with a provider.
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

  func account(_ edit: (inout Account) -> Void) async throws {
    let id: ProvisionID = .account(try named(Sample.provider), try named(Sample.account))
    guard case .account(var account)? = try await existing(id) else {
      throw NotThere(what: Sample.account)
    }
    edit(&account)
    try await change(.account(account))
  }

  func remove(_ id: ProvisionID) async throws {
    _ = try await core.store.remove(id, audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }

  /// Waits for audit lines that are written after the response.
  ///
  /// Each counts as under way before its response is sent.
  func auditIsWritten() async throws {
    try await eventually("all audit lines are written") { core.audit.linesUnderWay == 0 }
  }

  /// The audit lines with this action.
  func audit(_ action: String) async throws -> [AuditEntry] {
    try await core.store.audit(after: 0, limit: 1000).map(\.entry).filter { $0.action == action }
  }
}

struct NotThere: Error { let what: String }

/// A wire format, transport and error form.
///
/// Tests that take it run in every combination.
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

  /// Runs a test body with a box that uses this combination.
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
