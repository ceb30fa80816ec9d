import Administration
import HTTPServer
import HTTPTestSupport
import RegentCryptography
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPairingWire
import RegentPlatform
import RegentdTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Data and options that an app sends, and where an operator reads them.
@Suite("App data and options in operators' reports", .regentd)
struct ReportRowTests {
  @Test
  func `data of getAuthentication is kept with the code and shown only to the device that sent it and to operators`()
    async throws
  {
    let tap = Wiretap()
    let live = try await LiveService(through: tap)
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    enabler.getAuthentication(data: ["campaign": "spring \u{202e}sale", "step": "2"])
    try await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    try await recorder.wait(for: "status REGCODE")
    let line = try #require(recorder.lines.first { $0.hasPrefix("status REGCODE") })
    let code = try #require(line.split(separator: " ").last)
    // The service removes U+202E, which would reverse text on an operator's screen.
    let data = #"{"campaign":"spring sale","step":"2"}"#
    let entry = try await live.regentd.admin.code(String(code))
    #expect(entry.app == AppReport(data: data))
    // Only the device that sent the data reads it back.
    func info(_ device: String) async throws -> JSONValue? {
      try await live.record(of: String(code), device: device)["info"]
    }
    #expect(try await info(enabler.deviceID)?["genericData"]?.string == data)
    #expect(try await info("somebody-else")?["genericData"] == nil)
    try await live.approve(String(code))
    try await recorder.wait(for: "setAuthenticationStatus 1")
    let signIn = try #require(try await live.signIns().first)
    #expect(signIn.app?.data == data)
    let approval = try #require(try await live.auditLines().last { $0.action == "code.approve" })
    #expect(approval.detail.contains(", data \(data), device "))
  }

  @Test func `options reach operators, and a visitor's audit lines can be found`() async throws {
    let live = try await LiveService()
    try await live.addProfile("tv")
    let enabler = try await live.enabler()
    enabler.setOptions([
      "visitorID": "visitor \"1\"", "applicationProfile": "tv", "abTest": "B", "retries": "3",
    ])
    try await live.signIn(enabler)
    let signIn = try #require(try await live.signIns().first)
    #expect(
      signIn.app
        == AppReport(visitorID: "visitor \"1\"", profile: "tv", options: #"{"abTest":"B","retries":"3"}"#))
    let lines = try await live.auditLines().filter { VisitorPseudonym.isAbout("visitor \"1\"", $0.detail) }
    #expect(lines.map(\.action) == ["code.approve"])
    #expect(
      lines[0].detail.contains(#", visitor "visitor \"1\"", profile tv, options {"abTest":"B","retries":"3"}, device "#)
    )
    #expect(!VisitorPseudonym.isAbout("visitor", lines[0].detail))
  }

  @Test func `a visitor id that changes while the device is signed in reaches the reports`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    enabler.setOptions(["visitorID": "first"])
    try await live.signIn(enabler)
    enabler.setOptions(["visitorID": "second"])
    for _ in 1...2 { _ = try await enabler.authorize("news") }
    #expect(try await live.signIns().first?.app?.visitorID == "second")
    let lines = try await eventually("the audit line of the change") {
      let lines = try await live.auditLines().filter { VisitorPseudonym.isAbout("second", $0.detail) }
      return lines.isEmpty ? nil : lines
    }
    #expect(lines.map(\.action).filter { $0 == "device.visitor" }.count == 1, "\(lines)")
  }

  @Test func `a device name or option cannot make an audit line look like another visitor's`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler { $0.device[.deviceName] = #"x, visitor "victim""# }
    enabler.setOptions(["visitorID": #"me, visitor "victim""#, "more": #", visitor "victim""#])
    try await live.signIn(enabler)
    let lines = try await live.auditLines()
    #expect(lines.contains { $0.detail.contains("victim") })
    #expect(!lines.contains { VisitorPseudonym.isAbout("victim", $0.detail) })
  }

  @Test func `data of checkAuthorization is in the audit line of a denial and cannot imitate another visitor`()
    async throws
  {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    try await live.signIn(enabler)
    try await live.forbid("*\(live.requestor)*", "not in your package")
    let resource = "\(live.requestor), visitor \"victim\""
    for data in [["campaign": "spring", "more": ", visitor \"victim\""], [:]] {
      await #expect {
        _ = try await enabler.authorize(resource, data: data)
      } throws: { error in
        (error as? EntitlementError)?.kind == .notAuthorized
      }
    }
    let line = try await eventually("the audit line of the denial") {
      try await live.auditLines().last { $0.action == "authorization.deny" }
    }
    #expect(line.detail.contains(#", data {"campaign":"spring","more":", visitor \"victim\""}"#), "\(line.detail)")
    #expect(!VisitorPseudonym.isAbout("victim", line.detail))
  }

  @Test(arguments: [
    ("nonsense", 400), (#"["a"]"#, 400), (#"{"a":{"b":"c"}}"#, 400), (#"{"a":["b"]}"#, 400), ("{}", 201),
    (#"{"a":1,"b":true,"c":null}"#, 201), ("", 201),
  ])
  func `the data of a code is a JSON object of scalars, limited in size and number`(data: String, status: Int)
    async throws
  {
    let live = try await LiveService()
    #expect(try await live.statusOfCode(data: data) == status, "\(data)")
    let long = #"{"a":""# + String(repeating: "x", count: 2050) + #""}"#
    #expect(try await live.statusOfCode(data: long) == 400)
    let many = "{" + (0..<17).map { #""n\#($0)":"""# }.joined(separator: ",") + "}"
    #expect(try await live.statusOfCode(data: many) == 400)
  }
}

extension LiveService {
  private func send(_ wire: WireCall) async throws -> TestResponse {
    let signer = try CallSigner(publicKey: publicKey, secret: Secret(secret), method: .hmacSHA256)
    let now = Instant(milliseconds: Clocks.wallMilliseconds())
    let header = signer.header(wire, requestor: try named(requestor), at: now)
    let target = wire.path + "?" + PercentEncoding.form(wire.query)
    return try await SocketClient(.network(.loopback, port: regentd.port)).send(
      TestRequest(wire.method.token, target, headers: [("Authorization", header), ("Accept", "application/json")]))
  }

  /// The record of a code, as a device with the app's key pair reads it.
  fileprivate func record(of code: String, device: String) async throws -> JSONValue {
    let call = WireCall(
      method: .get, path: "/reggie/v1/\(requestor)/regcode/\(code)", query: [("deviceId", device)])
    return try JSONValue(reading: try await send(call).body)
  }

  /// The status of the response to a request for a code with this data.
  fileprivate func statusOfCode(data: String) async throws -> Int {
    let call = WireCall(
      method: .post, path: "/reggie/v1/\(requestor)/regcode", query: [("deviceId", "box-1"), ("generic_data", data)])
    return Int(try await send(call).status)
  }

  fileprivate func signIns() async throws -> [Administration.SignInEntry] {
    var all: [Administration.SignInEntry] = []
    try await regentd.admin.signIns(of: try named(requestor)) { all += $0 }
    return all
  }

  /// The audit log's lines about this service's requestor.
  fileprivate func auditLines() async throws -> [AuditLine] {
    var (all, last): ([AuditLine], Int64) = ([], 0)
    while true {
      let page = try await regentd.admin.audit(after: last)
      all += page
      guard let end = page.last else { return all.filter { $0.detail.contains(requestor) } }
      last = end.number
    }
  }
}
