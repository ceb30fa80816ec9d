import Administration
import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import RegentdTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// The program `regentd`, started once for a suite: every test of it has a requestor of its own there.
struct SharedRegentd: SuiteTrait, TestScoping {
  @TaskLocal static var current: Regentd?

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent () async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let regentd = try await Regentd(try builtProgram("regentd"), in: folder)
      try await Self.$current.withValue(regentd, operation: function)
      try await regentd.kill()
    }
  }
}

extension Trait where Self == SharedRegentd {
  /// The suite's tests speak to a `regentd` of their own.
  static var regentd: Self { Self() }
}

/// A requestor at the suite's `regentd`, reached over sockets; provisioned as operators do it, through the admin
/// socket.
struct LiveService: ServiceUnderTest {
  let regentd: Regentd
  let url: String
  let requestor: String
  let publicKey: String
  let secret: String

  /// With `through` the requestor's enablers speak to the service through a listener that writes down what they say.
  init(
    through tap: Wiretap? = nil, requestor change: (inout Requestor) -> Void = { _ in }
  ) async throws {
    regentd = try #require(SharedRegentd.current, "the suite has the trait .regentd")
    requestor = "R\(UInt64.random(in: 0...UInt64.max))"
    var record = Requestor(
      id: try named(requestor), name: "Reference", domains: ["example.com"],
      metadataKeys: Set(MetadataKey.allCases))
    change(&record)
    let key = try await regentd.add(record)
    publicKey = key.publicKey.text
    secret = key.secret
    url = try tap?.open(to: regentd.url) ?? regentd.url
  }

  func approve(_ code: String) async throws { try await regentd.approve(code) }

  /// Says no on the pages of the phone.
  func deny(_ code: String) async throws {
    var phone = phone()
    try await phone.open("/D/\(code)")
    try await phone.send("open")
    if phone.address.hasSuffix("/provider") {
      try await phone.send("provider", ["provider": Sample.provider])
    }
    try await phone.send("sign-in", ["user": Sample.account, "password": Regentd.password])
    try await phone.send("deny")
  }

  /// Opens the page of a code on the phone, and does nothing there.
  func open(_ code: String) async throws {
    var phone = phone()
    try await phone.open("/D/\(code)")
    try await phone.send("open")
  }

  /// What the service says of a code.
  func state(of code: String) async throws -> String { try await regentd.admin.code(code).state }

  /// A browser that has not been here yet.
  func phone() -> PhoneBrowser {
    PhoneBrowser(SocketClient(.network(.loopback, port: regentd.port)))
  }

  /// Forbids what a pattern names to everybody at the sample provider.
  func forbid(_ pattern: String, _ message: String) async throws {
    _ = try await regentd.admin.add(
      EntitlementRequest(
        provider: try named(Sample.provider), scope: .everybody,
        pattern: try #require(ResourcePattern(pattern)), effect: .deny(message: message)))
  }

  /// Lets an application profile of this name ask for two resources at once, and no more.
  func addProfile(_ name: String) async throws {
    var patch = Patch<Integration>()
    let profile = JSONObject.Member(name, .object(["preauthorizationLimit": 2]))
    patch.set(.profiles, .object(JSONObject([profile])))
    _ = try await regentd.admin.integrate(
      try named(requestor), try named(Sample.provider), patch)
  }

  /// Adds a provider whose pages want the secure sheet; its id.
  func addSheetProvider() async throws -> String {
    let id = "sheet-\(requestor.lowercased())"
    let provider = Provider(id: try named(id), name: "Sheet", kind: .local, secureSheet: true)
    _ = try await regentd.admin.add(provider.id, Patch(provider))
    _ = try await regentd.admin.integrate(try named(requestor), provider.id, Patch())
    return id
  }

  func degrade(_ degradation: Degradation) async throws {
    var patch = Patch<Integration>()
    patch.set(.degradation, .string(degradation.rawValue))
    _ = try await regentd.admin.integrate(
      try named(requestor), try named(Sample.provider), patch)
  }
}
