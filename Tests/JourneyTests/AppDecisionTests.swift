import HTTPTestSupport
import PairingStore
import RegentJSON
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// What a viewer decides on the phone about the apps of a box, and how the box hears of it.
@Suite struct `apps are decided about on my screens` {
  @Test func `the phone lists what the box told, and its decision reaches the box that waits`() async throws {
    try await withBox { stage, phone in
      #expect(try await stage.decide("granted") == 204)
      #expect(try await stage.decide("asked", app: "video") == 204)
      let page = try await stage.appsPage()
      try await phone.open("/screens")
      #expect(phone.page.text.contains("href=\"\(page)\""))
      try await phone.open(page)
      #expect(phone.page.text.contains("kodi") && phone.page.text.contains("video"))
      #expect(phone.page.text.contains("May use the sign-in") && phone.page.text.contains("Nobody has decided yet"))

      let known = try await stage.permissions()
      #expect(known.status == 200)
      #expect(try known.decisions() == ["kodi": "granted"], "a question is no decision")
      let tag = try #require(known.header("etag"))
      #expect(try await stage.permissions(tag).status == 304)
      let waiting = stage
      async let held = waiting.permissions(tag, wait: 55)
      try await eventually("a held answer") { waiting.service.core.waiters.count == 1 }
      // Another box's decision is none of this one's.
      try await stage.service.core.boxDecisions.decide(
        PlatformPermissionRecord(
          device: stage.service.core.hasher.device(try named("another-box")), app: "kodi",
          requestor: try named(Sample.requestor), isGranted: false, decided: stage.service.core.clock.now), audit: nil)
      #expect(stage.service.core.waiters.count == 1)
      try await phone.send("apps", ["app": "video", "requestor": Sample.requestor, "permission": "denied"])
      #expect(phone.address == page + "?done=1" && phone.page.text.contains("Saved."))
      let news = try await held
      #expect(news.status == 200 && news.header("etag") != tag && news.header("preference-applied") == "wait=55")
      #expect(try news.decisions() == ["kodi": "granted", "video": "denied"])
      let lines = try await stage.service.core.store.audit(after: 0, limit: 1000).map(\.entry)
      let line = try #require(lines.last { $0.action == "platform.decide" })
      #expect(line.detail == "denied: video for REF30")
      guard case .viewer = line.actor else {
        Issue.record("decided by \(line.actor)")
        return
      }
    }
  }

  @Test func `the phone's no ends the app at its next check, and keeps it out`() async throws {
    try await withBox { stage, phone in
      // In by the box, which has told nothing of the decision yet.
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      try await phone.open(try await stage.appsPage())
      #expect(phone.page.text.contains("kodi"))
      try await phone.send("apps", ["permission": "denied"])
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "permission")
      stage.service.clock.pass(.milliseconds(1))
      try await phone.send("apps", ["permission": "undetermined"])
      #expect(try await stage.permissions().decisions() == ["kodi": "undetermined"], "the box hears of it")
      stage.service.clock.pass(.milliseconds(1))
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
    }
  }

  @Test func `a box that was offline tells when the viewer decided, and the later word holds`() async throws {
    try await withBox { stage, phone in
      #expect(try await stage.decide("asked") == 204)
      stage.service.clock.pass(.seconds(100))
      try await phone.open(try await stage.appsPage())
      try await phone.send("apps", ["permission": "denied"])
      stage.service.clock.pass(.seconds(50))
      // On the box a minute ago: before the phone's no.
      #expect(try await stage.decide("granted", [("decisionAge", "60000")]) == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "denied"])
      #expect(try await stage.decide("granted", [("decisionAge", "50002")]) == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "denied"], "of two at once the no holds")
      // From before there was a clock: earlier than everything but a question.
      #expect(try await stage.decide("granted", [("decisionAge", "\(Int64(1) << 52)")]) == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "denied"])
      #expect(try await stage.decide("asked") == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "denied"], "a question changes nothing")
      #expect(try await stage.decide("granted", [("decisionAge", "50004")]) == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "granted"])
      for age in ["-1", "x", "1e3", "99999999999999999999"] {
        #expect(try await stage.decide("granted", [("decisionAge", age)]) == 400)
      }
    }
  }

  @Test func `only the viewer of a box decides, and about its apps alone`() async throws {
    try await withBox { stage, phone in
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      let page = try await stage.appsPage()
      try await phone.open(page)
      for made in [
        ["app": "plex", "requestor": Sample.requestor, "permission": "granted"],
        ["app": "kodi", "requestor": PlatformStage.maker, "permission": "granted"],
        ["app": "kodi", "requestor": Sample.requestor, "permission": "always"], ["app": "kodi"],
      ] {
        try await phone.open(page)
        #expect(try await phone.post(page, made.merging(["csrf": phone.formToken]) { old, _ in old }).status == 404)
      }
      // Without the form's token, and by an app's own screen.
      let deny = ["app": "kodi", "requestor": Sample.requestor, "permission": "denied"]
      #expect(try await phone.post(page, deny).status == 403)
      let child = try #require(try await stage.signIns(at: Sample.requestor).first)
      #expect(try await phone.open("/screens/\(child.authentication.id)/apps").status == 404)
      var stranger = PhoneBrowser(phone.client)
      try await stranger.open(page)
      #expect(stranger.address.hasPrefix("/sign-in"))
      #expect(try await stage.permissions().decisions() == [:])
    }
  }

  @Test func `only a box that is signed in is told, and its newer wait takes the place of the older`() async throws {
    try await withBox { stage, _ in
      #expect(try await stage.asApp("GET", Paths.platformPermissions).status == 403)
      let tag = try #require(try await stage.permissions().header("etag"))
      let waiting = stage
      async let first = waiting.permissions(tag, wait: 55)
      try await eventually("a held answer") { waiting.service.core.waiters.count == 1 }
      async let second = waiting.permissions(tag, wait: 55)
      #expect(try await first.status == 304)
      try await eventually("the other held answer") { waiting.service.core.waiters.count == 1 }
      stage.service.core.waiters.stop()
      #expect(try await second.status == 304)
      #expect(try await stage.asBox("DELETE", "/api/v1/logout").status == 204)
      #expect(try await stage.permissions(tag).status == 412)
    }
  }

  @Test func `a permission that is taken back between answer and exchange lets nobody in`() async throws {
    try await withBox { stage, _ in
      #expect(try await stage.decide("granted") == 204)
      let word = try stage.word(try await stage.request())
      #expect(try await stage.decide("undetermined") == 204)
      #expect(try await stage.verdict(word) == "permission")
      // Allowed again, of which the service need not have heard: a new request is enough.
      stage.service.clock.pass(.milliseconds(1))
      #expect(try await stage.verdict(word) == "permission")
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      // A no in between, and a yes over it: the earlier answer counts, as the app is let in.
      let early = try stage.word(try await stage.request(device: "app-2"))
      #expect(try await stage.decide("denied") == 204)
      #expect(try await stage.verdict(early, device: "app-2") == "permission")
      #expect(try await stage.decide("granted") == 204)
      #expect(try await stage.verdict(early, device: "app-2") == "204")
    }
  }

  @Test(arguments: [true, false])
  func `a box that waits hears at once that its sign-in has ended`(isByItself: Bool) async throws {
    try await withBox { stage, phone in
      let tag = try #require(try await stage.permissions().header("etag"))
      let waiting = stage
      async let held = waiting.permissions(tag, wait: 55)
      try await eventually("a held answer") { waiting.service.core.waiters.count == 1 }
      // An app's end is none of the box's.
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      #expect(try await stage.asApp("DELETE", "/api/v1/logout").status == 204)
      #expect(stage.service.core.waiters.count == 1)
      if isByItself {
        #expect(try await stage.asBox("DELETE", "/api/v1/logout").status == 204)
      } else {
        let entry = AuditEntry(
          at: stage.service.core.clock.now, actor: .device(try named(PlatformStage.maker)), action: "device.sign-out",
          subject: "box", outcome: .done)
        _ = try await stage.service.core.signInTransitions.revoke(
          AuthenticationFilter(requestor: try named(PlatformStage.maker)), audit: entry)
      }
      #expect(try await held.status == 412)
    }
  }

  private func withBox(_ body: (inout PlatformStage, inout PhoneBrowser) async throws -> Void) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var stage = try await PlatformStage(client, service)
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      try await body(&stage, &phone)
    }
  }
}

extension PlatformStage {
  fileprivate func permissions(_ tag: String? = nil, wait: Int? = nil) async throws -> TestResponse {
    var headers = tag.map { [(name: "If-None-Match", value: $0)] } ?? []
    if let wait { headers.append(("Prefer", "wait=\(wait)")) }
    return try await asBox("GET", Paths.platformPermissions, headers: headers)
  }

  fileprivate func signIns(at requestor: String) async throws -> [AuthenticationRecord] {
    try await service.core.store.authentications(
      AuthenticationFilter(requestor: try named(requestor)), after: nil, limit: 10, at: service.core.clock.now)
  }

  /// Where the phone decides about the apps of the box.
  fileprivate func appsPage() async throws -> String {
    let box = try #require(try await signIns(at: Self.maker).first)
    return "/screens/\(box.authentication.id)/apps"
  }
}

extension TestResponse {
  /// The permissions that a box is told, by the names of its apps.
  fileprivate func decisions() throws -> [String: String] {
    let entries = try #require(try JSONValue(reading: Array(text.utf8))["permissions"]?.array)
    return try Dictionary(
      entries.map { (try #require($0["app"]?.string), try #require($0["permission"]?.string)) },
      uniquingKeysWith: { first, _ in first })
  }
}
