import HTTPTestSupport
import PairingStore
import RegentJSON
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// A person who signs a box out is told which apps end with it, before and afterwards.
@Suite struct `Apps that end with the sign-in of their box` {
  /// Runs a test body with a box that has an app named kodi, the phone of its viewer, and the admin socket.
  private func withApp(
    _ body: (inout PlatformStage, inout PhoneBrowser, AdminSocket) async throws -> Void
  ) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var stage = try await PlatformStage(client, service)
      try await stage.letIn("kodi")
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      try await body(&stage, &phone, try AdminSocket(service.core))
    }
  }

  @Test func `the operator who signs a device out, and the audit log, are told the apps that end with it`() async throws
  {
    try await withApp { stage, _, admin in
      let shown = try await admin.send("GET", "/v1/devices?id=the-box")
      #expect(try appNames(of: shown.body) == ["kodi"])
      #expect(try appNames(of: try await admin.send("GET", "/v1/devices?id=app-1").body) == [])
      #expect(try await admin.send("DELETE", "/v1/devices?id=the-box").status == 200)
      #expect(try await stage.ends() == ["with it kodi for REF30"])
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
    }
  }

  @Test func `the operator who revokes a sign-in is told the apps that end with it`() async throws {
    try await withApp { stage, _, admin in
      let box = try #require(try await stage.signIn(at: PlatformStage.maker))
      let path = "/v1/sign-ins/\(box.authentication.id)"
      let shown = try await admin.send("GET", path)
      #expect(try appNames(of: Array("[".utf8) + shown.body + Array("]".utf8)) == ["kodi"])
      let ended = try await admin.send("POST", "\(path)/revoke")
      #expect(try appNames(of: Array("[".utf8) + ended.body + Array("]".utf8)) == ["kodi"])
      #expect(try await stage.ends("token.revoke").first?.hasSuffix("; with it kodi for REF30") == true)
    }
  }

  @Test func `My screens, the sign-out page and the audit log name the apps that end with a box`() async throws {
    try await withApp { stage, phone, _ in
      let requestor = try #require(
        stage.service.core.provisioning.now.requestor(try named(Sample.requestor))?.name)
      let app = "<bdi>kodi</bdi> (<bdi>\(requestor)</bdi>)"
      try await phone.open("/screens")
      #expect(phone.page.text.contains("Apps that use its sign-in"))
      #expect(phone.page.text.contains(app))
      let id = try #require(try await stage.signIn(at: PlatformStage.maker)).authentication.id
      try await phone.open("/screens/\(id)/sign-out")
      #expect(phone.page.text.contains("are signed out with it"))
      #expect(phone.page.text.contains(app))
      try await phone.send("sign-out")
      #expect(phone.address == "/screens?done=signed-out")
      #expect(try await stage.ends() == ["with it kodi for REF30"])
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
    }
  }

  /// An app reports no device, so its name on the page comes from the box; otherwise each would be "Unknown".
  @Test func `My screens shows an app under the name that its box gave it, and the name of the box`() async throws {
    try await withApp { stage, phone, _ in
      try await phone.open("/screens")
      #expect(phone.page.text.contains("<h2><bdi>kodi</bdi></h2>"))
      let box = try #require(try await stage.signIn(at: PlatformStage.maker))
      try await phone.open("/screens/\(box.authentication.id)/rename")
      try await phone.send("rename", ["name": "Attic"])
      try await phone.open("/screens")
      #expect(phone.page.text.contains("<h2><bdi>Attic</bdi></h2>"))
      #expect(phone.page.text.contains("<dd><bdi>Attic</bdi></dd>"), "the app shows the name of its box")
    }
  }

  @Test func `the sign-out of an app ends no other app`() async throws {
    try await withApp { stage, phone, _ in
      let id = try #require(try await stage.signIn(at: Sample.requestor)).authentication.id
      try await phone.open("/screens/\(id)/sign-out")
      #expect(!phone.page.text.contains("are signed out with it"))
      try await phone.send("sign-out")
      #expect(try await stage.ends() == [""])
      #expect(try await stage.signIn(at: PlatformStage.maker) != nil)
    }
  }

  @Test func `one audit line names an app only once, and at most twenty apps`() async throws {
    try await withApp { stage, _, _ in
      for device in 2...4 { try await stage.letIn("kodi", device: "app-\(device)") }
      for app in 1...22 { try await stage.letIn("app\(app)", device: "made-up-\(app)") }
      let box = try #require(try await stage.signIn(at: PlatformStage.maker))
      let now = stage.service.core.clock.now
      let apps = try await stage.service.core.apps(endingWith: [box], at: now)
      #expect(apps.count == 26)
      #expect(apps.appTitles.split(separator: ",").count == 21)
      #expect(apps.appTitles.hasSuffix(", and 3 more"))
    }
  }

  private func appNames(of body: [UInt8]) throws -> [String] {
    try JSONValue(reading: body).array?.flatMap { signIn in
      try #require(signIn.object?["apps"]?.array).compactMap { $0.object?["name"]?.string }
    } ?? []
  }
}

extension PlatformStage {
  fileprivate func letIn(_ app: String, device: String = PlatformStage.device) async throws {
    let word = try word(try await request(device: device), app: app)
    #expect(try await verdict(word, device: device) == "204")
  }

  fileprivate func signIn(at requestor: String) async throws -> AuthenticationRecord? {
    try await service.core.store.authentications(
      AuthenticationFilter(requestor: try named(requestor)), after: nil, limit: 100, at: service.core.clock.now
    ).first
  }

  /// The details of the audit lines about ended sign-ins.
  fileprivate func ends(_ action: String = "device.sign-out") async throws -> [String] {
    try await service.core.store.audit(after: 0, limit: 1000).map(\.entry).filter { $0.action == action }.map(\.detail)
  }
}
