import RegentPairing
import RegentPairingWire
import Testing

@testable import AccessEnabler

@Suite("State machine: authorization and metadata")
struct PendingCallTests {
  static let access = MediaAccess(
    resource: "r", token: "<token>", serialized: "PHRva2VuPg==",
    expires: Bench().now + .seconds(420), provider: "CABLE")
  static let permit = StoredPermit(expires: Bench().now + .seconds(3_600), source: .mvpd)

  @Test func `getAuthorization obtains a permit, then a media token`() {
    var bench = Bench.signedIn()
    let request = bench.call(.getAuthorization("r", data: [:]))
    #expect(bench.open.map(\.operation) == [.authorize(resource: "r", data: [:])])
    bench.answer(.permit(Self.permit))
    #expect(bench.open.map(\.operation) == [.mediaToken(resource: "r")])
    bench.answer(.mediaToken(Self.access))
    #expect(bench.told.filter(\.isCallback) == [.setToken(Self.access)])
    #expect(bench.outcomes(of: request) == [.access(Self.access)])
    bench.forget()
    bench.call(.checkAuthorization("r", data: [:]))
    #expect(bench.open.map(\.operation) == [.mediaToken(resource: "r")])
    bench.answer(.mediaToken(Self.access))
    let guid = "ee11cbb19052e40b07aac0ca060c23ee"
    #expect(
      bench.told.last
        == .sendTrackingData(
          ["true", "CABLE", guid, "true", "", "", "tv", "linux", "Linux 12"], .authorization))
  }

  @Test func `an expired permit is requested again`() {
    var bench = Bench.signedIn()
    bench.call(.getAuthorization("r", data: [:]))
    bench.answer(.permit(Self.permit))
    bench.answer(.mediaToken(Self.access))
    bench.now = bench.now + .seconds(3_600)
    bench.forget()
    bench.call(.getAuthorization("r", data: [:]))
    #expect(bench.open.map(\.operation) == [.authorize(resource: "r", data: [:])])
  }

  @Test func `a permit that the service no longer accepts is requested again once`() {
    var bench = Bench.signedIn()
    bench.call(.getAuthorization("r", data: [:]))
    bench.answer(.permit(Self.permit))
    bench.answer(.mediaToken(Self.access))
    let request = bench.call(.getAuthorization("r", data: [:]))
    bench.answer(.failed(.status(403)))
    #expect(bench.open.map(\.operation) == [.authorize(resource: "r", data: [:])])
    bench.answer(.failed(.status(403, details: "not in your package")))
    #expect(bench.error(of: request)?.kind == .notAuthorized)
    #expect(bench.machine.tokens.permits.isEmpty)
  }

  @Test func `checkAuthorization fails without a sign-in, getAuthorization starts one`() {
    var bench = Bench.ready()
    let check = bench.call(.checkAuthorization("r", data: [:]))
    #expect(
      bench.told.filter(\.isCallback) == [
        .setAuthenticationStatus(.notAuthenticated, .userNotAuthenticated),
        .tokenRequestFailed(resource: "r", .userNotAuthenticated, description: ""),
      ])
    #expect(bench.error(of: check)?.area == .authentication)
    bench.forget()
    let get = bench.call(.getAuthorization("r", data: [:]))
    bench.call(.setSelectedProvider("CABLE"))
    bench.answer(.code(.offered))
    bench.answer(.missing)
    bench.answer(.code(.record(.approved, 2)))
    bench.answer(.granted)
    bench.answer(.permit(Self.permit))
    bench.answer(.mediaToken(Self.access))
    let told = bench.told.filter(\.isCallback)
    #expect(told.first == .displayProviderDialog(Bench.configuration.providers))
    #expect(
      told.suffix(2) == [
        .setAuthenticationStatus(.authenticated, .userAuthenticated), .setToken(Self.access),
      ])
    #expect(bench.outcomes(of: get) == [.access(Self.access)])
  }

  @Test func `a sign-in that fails also fails the authorization that waits for it`() {
    var bench = Bench.ready()
    let get = bench.call(.getAuthorization("r", data: [:]))
    bench.call(.setSelectedProvider(nil))
    #expect(
      bench.told.filter(\.isCallback).suffix(2) == [
        .setAuthenticationStatus(.notAuthenticated, .providerNotSelected),
        .tokenRequestFailed(resource: "r", .userNotAuthenticated, description: ""),
      ])
    #expect(bench.outcomes(of: get).count == 1)
  }

  static func failure(_ status: Int, _ code: EnhancedCode, details: String? = nil) -> ServiceFailure {
    ServiceFailure(kind: .status(status), code: code, message: "words", details: details)
  }

  @Test(
    arguments: [
      (.status(403, details: "buy more"), .userNotAuthorized, .denied, .notAuthorized, "buy more"),
      (.status(403), .userNotAuthorized, .denied, .notAuthorized, ""),
      (
        failure(403, .authorizationDeniedByParentalControls), .userNotAuthorized, .denied,
        .parentalControls, ""
      ),
      (
        failure(403, .authorizationDeniedByDegradationRule), .userNotAuthorized, .degradedDenial,
        .notAuthorized, ""
      ),
      (
        failure(403, .temporaryAccessDurationExceeded), .userNotAuthorized, .temporaryPassExpired,
        .temporaryPassExpired, ""
      ),
      (
        failure(403, .networkConnectionTimeout), .genericAuthorization, .providerProblem, .service,
        ""
      ),
      (
        failure(400, .malformedAuthorizationRequest), .internalAuthorization, .malformedResource,
        .malformedResource, ""
      ),
      (.status(400), .internalAuthorization, .malformedResource, .malformedResource, ""),
      (.status(429), .genericAuthorization, .denied, .throttled, ""),
      (.status(500), .genericAuthorization, .authorizationFailed, .service, ""),
      (.status(401), .genericAuthorization, .notTrusted, .notTrusted, ""),
      (.away, .genericAuthorization, .authorizationFailed, .unreachable, ""),
      (
        ServiceFailure(kind: .unreadable), .genericAuthorization, .authorizationFailed, .service, ""
      ),
      (
        ServiceFailure(kind: .unsafeConnection), .genericAuthorization, .unsafeConnection,
        .unsafeConnection, ""
      ),
    ] as [(ServiceFailure, EntitlementCode, StatusID, EntitlementError.Kind, String)])
  func `each refusal of an authorization has its code, its status and its text`(
    failure: ServiceFailure, code: EntitlementCode, status: StatusID,
    kind: EntitlementError.Kind, text: String
  ) {
    var bench = Bench.signedIn()
    let request = bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(.failed(failure))
    // Only a denial has a text for the viewer. For other failures the description is for the developer or operator.
    let isRefusal = code == .userNotAuthorized
    #expect(
      bench.told.filter(\.isCallback) == [
        .tokenRequestFailed(
          resource: "r", code,
          description: isRefusal ? text : bench.error(of: request)?.description ?? "")
      ])
    #expect(bench.statuses == [status])
    #expect(bench.error(of: request)?.kind == kind)
    #expect(bench.machine.tokens.authentication != nil)
  }

  @Test(
    arguments: [
      .status(412), ServiceFailure(kind: .status(403), message: "User not Authenticated"),
      failure(403, .authenticationSessionExpired), failure(412, .authenticationSessionMissing),
    ] as [ServiceFailure])
  func `a sign-in that the service no longer knows is deleted on the device too`(
    failure: ServiceFailure
  ) {
    var bench = Bench.signedIn()
    let check = bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(.failed(failure))
    #expect(bench.statuses == [.noSession])
    #expect(bench.error(of: check)?.kind == .notAuthenticated)
    #expect(bench.machine.tokens.authentication == nil)
    var other = Bench.signedIn()
    other.call(.getAuthorization("r", data: [:]))
    other.answer(.failed(failure))
    #expect(other.told.last == .displayProviderDialog(Bench.configuration.providers))
  }

  @Test(arguments: [
    (DecisionSource.temppass, StatusID.temporaryAuthorization),
    (.degradation, .degradedAuthorization),
  ])
  func `a temporary or degraded permit is reported with its status`(source: DecisionSource, status: StatusID) {
    var bench = Bench.signedIn()
    bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(.permit(StoredPermit(expires: Self.permit.expires, source: source)))
    #expect(bench.statuses == [status])
  }

  /// After five denials of the resource `r` with the reason "not in your package".
  private static func deniedFiveTimes() -> Bench {
    var bench = Bench.signedIn()
    for _ in 0..<5 {
      bench.call(.checkAuthorization("r", data: [:]))
      var failure = ServiceFailure(kind: .status(403))
      failure.details = "not in your package"
      bench.answer(.failed(failure))
    }
    bench.forget()
    return bench
  }

  @Test func `after five denials in a minute the service is asked at most once a second whether anything has changed`()
  {
    var bench = Self.deniedFiveTimes()
    let request = bench.call(.checkAuthorization("r", data: [:]))
    #expect(bench.sent.map(\.operation) == [.preauthorize(["r"])])
    bench.answer(.preauthorized([]))
    #expect(bench.statuses == [.deniedRepeatedly])
    #expect(bench.error(of: request)?.kind == .notAuthorized)
    #expect(bench.error(of: request)?.message == "not in your package")
    bench.forget()
    let again = bench.call(.checkAuthorization("r", data: [:]))
    #expect(bench.sent.isEmpty)
    #expect(bench.error(of: again)?.message == "not in your package")
    let refused = bench.told.contains { told in
      if case .tokenRequestFailed("r", .userNotAuthorized, "not in your package") = told { true } else { false }
    }
    #expect(refused)
    bench.now = bench.now + .seconds(1)
    bench.call(.checkAuthorization("r", data: [:]))
    #expect(bench.sent.count == 1)
    bench.answer(.failed(.status(503)))
    #expect(bench.statuses == [.deniedRepeatedly, .deniedRepeatedly])
  }

  @Test func `a viewer who buys the resource after five denials gets it at once`() {
    var bench = Self.deniedFiveTimes()
    let request = bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(.preauthorized(["r"]))
    #expect(bench.sent.last?.operation == .authorize(resource: "r", data: [:]))
    bench.answer(.permit(Self.permit))
    bench.answer(.mediaToken(Self.access))
    #expect(bench.error(of: request) == nil && !bench.statuses.contains(.deniedRepeatedly))
  }

  @Test func `denials are counted for each resource and for one minute`() {
    var bench = Self.deniedFiveTimes()
    bench.call(.checkAuthorization("other", data: [:]))
    #expect(bench.open.count == 1)
    bench.now = bench.now + .seconds(61)
    bench.call(.checkAuthorization("r", data: [:]))
    #expect(bench.open.count == 2)
  }

  @Test func `an empty or oversized resource is refused without a request`() {
    var bench = Bench.signedIn()
    for resource in ["", String(repeating: "x", count: 9_000)] {
      let request = bench.call(.checkAuthorization(resource, data: [:]))
      #expect(bench.error(of: request)?.kind == .malformedResource)
    }
    #expect(bench.sent.isEmpty)
  }

  @Test func `getMetadata answers every key with the arguments of its call`() {
    var bench = Bench.signedIn { $0.exposesDeviceID = true }
    bench.call(.getAuthorization("r", data: [:]))
    bench.answer(.permit(Self.permit))
    bench.answer(.mediaToken(Self.access))
    bench.forget()
    let keys: [(MetadataRequest, MetadataValue?)] = [
      (.authenticationExpiry, .text("1800086400000")),
      (.authorizationExpiry(resource: "r"), .text("1800003600000")),
      (.authorizationExpiry(resource: "other"), nil), (.deviceID, .text("device")),
      (.user("zip"), .list(["12345"])), (.user("nothing"), nil),
    ]
    for (key, value) in keys {
      let arguments = key.arguments
      let request = bench.call(.getMetadata(MetadataRequest(arguments), arguments: arguments))
      bench.answer(.metadata(["zip": Metadata(value: .list(["12345"]))]))
      #expect(
        bench.told.last
          == .setMetadataStatus(Metadata(value: value), key: key.name, arguments: arguments))
      #expect(bench.outcomes(of: request) == [.metadata(Metadata(value: value))])
    }
  }

  @Test func `getMetadata returns no device id unless the configuration exposes it`() {
    var bench = Bench.signedIn()
    let request = bench.call(.getMetadata(.deviceID, arguments: [:]))
    #expect(bench.outcomes(of: request) == [.metadata(Metadata(value: nil))])
  }

  @Test(arguments: [.status(429), .away, .status(500), .status(401)] as [ServiceFailure])
  func `metadata that cannot be fetched is empty and the error says why`(failure: ServiceFailure) {
    var bench = Bench.signedIn()
    let request = bench.call(.getMetadata(.user("zip"), arguments: ["a": "b"]))
    bench.answer(.failed(failure))
    #expect(
      bench.told == [
        .setMetadataStatus(
          Metadata(value: nil), key: MetadataArgument.userMetadata, arguments: ["a": "b"])
      ])
    #expect(bench.error(of: request)?.area == .other)
  }

  @Test func `getMetadata with unknown arguments returns no value`() {
    var bench = Bench.signedIn()
    let request = bench.call(.getMetadata(MetadataRequest(["x": "y"]), arguments: ["x": "y"]))
    #expect(
      bench.told == [.setMetadataStatus(Metadata(value: nil), key: "", arguments: ["x": "y"])])
    #expect(bench.outcomes(of: request).count == 1)
  }

  @Test func `logout fails an authorization under way as not authenticated`() {
    var bench = Bench.signedIn()
    let request = bench.call(.getAuthorization("r", data: [:]))
    bench.call(.logout)
    #expect(bench.error(of: request)?.kind == .notAuthenticated)
    #expect(bench.outcomes(of: request).count == 1)
  }
}
