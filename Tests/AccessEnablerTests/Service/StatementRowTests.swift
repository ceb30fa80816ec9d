import HTTPTestSupport
import RegentPairing
import RegentPairingWire
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Statements of the entitlement API that no other test covers; Tests/mutations/entitlement.toml names these tests.
@Suite("Further statements of the entitlement API", .regentd)
struct StatementRowTests {
  @Test func `the older initialiser without a software statement makes the same enabler`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    func made<Older: OlderInit>(_: Older.Type) throws -> Older { try Older(storage: .memory, delegate: recorder) }
    let enabler = try made(AccessEnabler.self)
    let older: any OlderCalls = enabler
    older.setRequestor(
      live.requestor, signedRequestorID: "", secret: live.secret, publicKey: live.publicKey,
      serviceProviders: [live.url])
    try await recorder.wait(for: "setRequestorComplete 1")
    enabler.checkAuthentication()
    try await recorder.wait(for: "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR")
  }

  @Test func `options that change between calls apply to the following calls`() async throws {
    let tap = Wiretap()
    let live = try await LiveService(through: tap)
    let enabler = try await live.enabler()
    enabler.setOptions(["visitorID": "first"])
    try await live.signIn(enabler)
    enabler.setOptions(["visitorID": "second"])
    tap.forget()
    _ = try await enabler.authorize("news")
    #expect(!tap.requests.isEmpty)
    #expect(tap.requests.allSatisfy { $0.header("AP-Visitor-Identifier") == "second" })
  }

  @Test func `the older getAuthentication takes its filter as an array and begins the same sign-in`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let older: any OlderCalls = enabler
    older.getAuthentication(["pass", "local"])
    try await recorder.wait(for: "displayProviderDialog local,pass,promotion")
  }

  @Test func `getAuthenticationToken finishes a sign-in in a browser`() async throws {
    let live = try await LiveService { $0.redirectURIs = ["adobepass://ios.app"] }
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder) {
      $0.login = .browser(redirectURL: "adobepass://ios.app")
    }
    enabler.getAuthentication()
    try await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    try await recorder.wait(for: "navigateToUrl")
    let page = try #require(recorder.callbacks.last)
    let code = try #require(page.firstRange(of: "reg_code=")).upperBound
    try await live.approve(String(page[code...].prefix { $0 != "&" }))
    let older: any OlderCalls = enabler
    older.getAuthenticationToken()
    try await recorder.wait(for: "setAuthenticationStatus 1 ")
  }

  @Test func `an MVPD has the properties that the service sends for the provider`() {
    let listed = ListedProvider(
      id: "CABLE", displayName: "Cable and more", logoURL: "https://cable.example/logo.png", boarding: .picker,
      enablesPlatformServices: true)
    let provider = MVPD(listed)
    #expect(provider.id == "CABLE" && provider.displayName == "Cable and more")
    #expect(provider.logoURL == "https://cable.example/logo.png")
    #expect(provider.enablePlatformServices && provider.boardingStatus == .picker)
    #expect(MVPD(ListedProvider(id: "OTHER", displayName: "Other")).boardingStatus == nil)
  }

  @Test(arguments: [
    ("Desktop", "computer"), ("Tablet", "tablet"), ("MobilePhone", "mobile"), ("GamesConsole", "gameconsole"),
    ("SetTopBox", "unknown"), ("Camera", "unknown"),
  ])
  func `tracking data gives the device one of the documented types`(hardware: String, type: String) {
    var device = DeviceInformation()
    device[.primaryHardwareType] = hardware
    device[.osName] = "Linux"
    #expect(DeviceFacts.tracked(device) == [type, "linux", "Linux"])
  }

  @Test func `two processes on one store that sign in together show one code`() async throws {
    let live = try await LiveService()
    let probe = try builtProgram("SDKProbe")
    try await withTemporaryFolder { folder in
      let words = ["sign-in", "\(folder)/state", live.url, live.requestor, live.publicKey, live.secret]
      let both = try (0..<2).map { number in
        try RunningProgram(
          probe, words, standardOutput: "\(folder)/\(number)", standardError: "\(folder)/\(number).err")
      }
      func line(_ word: String, of number: Int) async throws -> String {
        try await eventually("the \(word) of process \(number)") {
          let text = String(decoding: (try? readFile("\(folder)/\(number)")) ?? [], as: UTF8.self)
          let lines = text.hasSuffix("\n") ? text.split(separator: "\n") : []
          return lines.first { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
        }
      }
      let code = try await line("code", of: 0)
      #expect(try await line("code", of: 1) == code)
      try await live.approve(code)
      #expect(try await line("user", of: 0) == line("user", of: 1))
      for one in both { #expect(try await eventually("the end") { one.poll() } == 0) }
    }
  }

  /// `years` moves the clock; the certificate is valid for one week from now.
  @Test(arguments: [-40, 40] as [Int64])
  func `a clock at which no certificate is valid is reported as wrong, over TLS`(years: Int64) async throws {
    try await withTemporaryFolder { folder in
      let server = try OwnCertificateServer(folder)
      // On a busy machine the server's time may not come within three seconds; the certificate is then called invalid.
      try await eventually("the clock is called wrong") { () async throws -> Bool in
        let kind = try await server.kind(trusting: .file(server.certificate)) {
          Clocks.wallMilliseconds() + years * 365 * 86_400_000
        }
        return kind == .clockWrong
      }
    }
  }

  @Test func `an app that names its own certificate authority trusts that one and no other`() async throws {
    try await withTemporaryFolder { folder in
      let server = try OwnCertificateServer(folder)
      let hashed = try run(
        "sh",
        [
          "-c",
          "mkdir \(folder)/trusted && cp \(server.certificate) \(folder)/trusted && openssl rehash \(folder)/trusted",
        ])
      try #require(hashed.status == 0, "\(hashed.errorText)")
      // The server is no Regent service, which the SDK can see only when it trusts the certificate.
      for authorities in [.file(server.certificate), .folder("\(folder)/trusted")] as [CertificateAuthorities] {
        let kind = try await server.kind(trusting: authorities)
        // Over TLS no captive portal can have answered instead, so that the error is the service's.
        #expect(kind == .service, "\(authorities)")
      }
      let other = try OwnCertificateServer("\(folder)/trusted")
      for authorities in [.system, .file(other.certificate)] as [CertificateAuthorities] {
        let kind = try await server.kind(trusting: authorities)
        #expect(kind == .unsafeConnection, "\(authorities)")
      }
    }
  }
}

/// A TLS server with a self-signed certificate.
///
/// Its pages are not those of a Regent service.
private struct OwnCertificateServer {
  let certificate: String
  private let port: UInt16
  private let program: RunningProgram

  init(_ folder: String) throws {
    certificate = "\(folder)/certificate.pem"
    let made = try run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "7", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "\(folder)/key.pem", "-out", certificate,
      ])
    try #require(made.status == 0, "\(made.errorText)")
    port = try freePort()
    program = try RunningProgram(
      "python3",
      [
        "-c",
        """
        import http.server, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.serve_forever()
        """, "\(port)", certificate, "\(folder)/key.pem",
      ], standardOutput: "\(folder)/out", standardError: "\(folder)/err")
  }

  /// The kind of error that an app gets with this server as its service.
  func kind(
    trusting authorities: CertificateAuthorities,
    at clock: @escaping @Sendable () -> Int64 = { Clocks.wallMilliseconds() }
  ) async throws -> EntitlementError.Kind {
    var configuration = EnablerConfiguration(storage: .memory)
    configuration.services = ["https://localhost:\(port)"]
    configuration.authorities = authorities
    configuration.wallClock = clock
    let enabler = try AccessEnabler(configuration)
    return try await eventually("the server") { () async throws -> EntitlementError.Kind? in
      do throws(EntitlementError) {
        _ = try await enabler.configure(requestor: "SPORT")
      } catch {
        // The server does not listen yet.
        return error.kind == .unreachable ? nil : error.kind
      }
      throw TestSupportError("the response of a server that is no Regent service was accepted")
    }
  }
}

/// The deprecated initializer, declared here so that calling it causes no compiler warning.
protocol OlderInit {
  init(storage: TokenStorage, delegate: (any EntitlementDelegate)?) throws(FileError)
}

extension AccessEnabler: OlderInit {}
