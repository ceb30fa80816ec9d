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

/// Starts `regentd` once for a suite; each test of the suite has a requestor of its own there.
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
  /// Gives the suite's tests a `regentd` of their own.
  static var regentd: Self { Self() }
}

/// A requestor at the suite's `regentd`, provisioned through the admin socket as an operator does it.
struct LiveService: ServiceUnderTest {
  let regentd: Regentd
  let url: String
  let requestor: String
  let publicKey: String
  let secret: String

  /// With `tap`, the requestor's enablers reach the service through that listener, which records their requests.
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

  /// Denies the code on the phone's pages.
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

  /// Opens the code's page on the phone without approving or denying.
  func open(_ code: String) async throws {
    var phone = phone()
    try await phone.open("/D/\(code)")
    try await phone.send("open")
  }

  /// The state of a code at the service.
  func state(of code: String) async throws -> String { try await regentd.admin.code(code).state }

  /// A browser without cookies.
  func phone() -> PhoneBrowser {
    PhoneBrowser(SocketClient(.network(.loopback, port: regentd.port)))
  }

  /// Denies every viewer of the sample provider the resources that match a pattern.
  func forbid(_ pattern: String, _ message: String) async throws {
    _ = try await regentd.admin.add(
      EntitlementRequest(
        provider: try named(Sample.provider), scope: .everybody,
        pattern: try #require(ResourcePattern(pattern)), effect: .deny(message: message)))
  }

  /// Adds an application profile with this name that may preauthorize at most two resources in one request.
  func addProfile(_ name: String) async throws {
    var patch = Patch<Integration>()
    let profile = JSONObject.Member(name, .object(["preauthorizationLimit": 2]))
    patch.set(.profiles, .object(JSONObject([profile])))
    _ = try await regentd.admin.integrate(
      try named(requestor), try named(Sample.provider), patch)
  }

  /// Adds a provider whose pages need the secure sheet, and returns its id.
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
