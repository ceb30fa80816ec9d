import HTTPTestSupport
import PairingStore
import RegentJSON
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// The decisions that a viewer makes on the phone about the apps of a box, and how the box learns of them.
@Suite struct `Decisions about apps on the page My screens` {
  @Test func `the phone lists the apps that the box reported, and its decision completes the long poll of the box`()
    async throws
  {
    try await withBox { stage, phone in
      #expect(try await stage.decide("granted") == 204)
      #expect(try await stage.decide("asked", app: "video") == 204)
      let page = try await stage.appsPage()
      try await phone.open("/screens")
      #expect(phone.page.text.contains("href=\"\(page)\""))
      try await phone.open(page)
      #expect(phone.page.text.contains("kodi") && phone.page.text.contains("video"))
      #expect(phone.page.text.contains("May use the sign-in") && phone.page.text.contains("Not decided yet"))

      let known = try await stage.permissions()
      #expect(known.status == 200)
      #expect(try known.decisions() == ["kodi": "granted"], "an app that only asked is not listed")
      let tag = try #require(known.header("etag"))
      #expect(try await stage.permissions(tag).status == 304)
      let waiting = stage
      async let held = waiting.permissions(tag, wait: 55)
      try await eventually("the long poll is parked") { waiting.service.core.waiters.count == 1 }
      // A decision about another box does not complete this long poll.
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
      #expect(line.detail == "the viewer's decision about app video of REF30: denied")
      guard case .viewer = line.actor else {
        Issue.record("decided by \(line.actor)")
        return
      }
    }
  }

  @Test func `a denial on the phone ends the sign-in of the app at its next check and refuses later ones`() async throws
  {
    try await withBox { stage, phone in
      // The box assertion lets the app in, although the box has not yet reported its decision.
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      try await phone.open(try await stage.appsPage())
      #expect(phone.page.text.contains("kodi"))
      try await phone.send("apps", ["permission": "denied"])
      #expect(try await stage.asApp("GET", "/api/v1/tokens/authn").status == 403)
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "permission")
      stage.service.clock.pass(.milliseconds(1))
      try await phone.send("apps", ["permission": "undetermined"])
      #expect(try await stage.permissions().decisions() == ["kodi": "undetermined"], "the box receives the reset")
      stage.service.clock.pass(.milliseconds(1))
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
    }
  }

  @Test func `decisions are ordered by the time at which they were made, also when an offline box reports late`()
    async throws
  {
    try await withBox { stage, phone in
      #expect(try await stage.decide("asked") == 204)
      stage.service.clock.pass(.seconds(100))
      try await phone.open(try await stage.appsPage())
      try await phone.send("apps", ["permission": "denied"])
      stage.service.clock.pass(.seconds(50))
      // The box decided a minute ago, which is before the denial on the phone.
      #expect(try await stage.decide("granted", [("decisionAge", "60000")]) == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "denied"])
      #expect(try await stage.decide("granted", [("decisionAge", "50002")]) == 204)
      #expect(
        try await stage.permissions().decisions() == ["kodi": "denied"],
        "of two decisions made at the same time the denial wins")
      // The box had no valid clock then: this counts as older than every decision, but newer than a question.
      #expect(try await stage.decide("granted", [("decisionAge", "\(Int64(1) << 52)")]) == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "denied"])
      #expect(try await stage.decide("asked") == 204)
      #expect(
        try await stage.permissions().decisions() == ["kodi": "denied"],
        "a report that the app asked changes no decision")
      #expect(try await stage.decide("granted", [("decisionAge", "50004")]) == 204)
      #expect(try await stage.permissions().decisions() == ["kodi": "granted"])
      #expect(try await stage.send(try stage.decision("granted", age: .milliseconds(-1))).status == 400)
      stage.signs = false
      try await stage.signInBox()
      for age in ["-1", "x", "1e3", "99999999999999999999"] {
        #expect(try await stage.decide("granted", [("decisionAge", age)]) == 400)
      }
    }
  }

  @Test func `only the viewer of a box decides, and only about apps of this box`() async throws {
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
      // A form without its CSRF token is refused, and an app's own screen has no page for decisions.
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

  @Test func `only a signed-in box reads decisions, and its newer long poll replaces the older`() async throws {
    try await withBox { stage, _ in
      #expect(try await stage.asApp("GET", Paths.platformPermissions).status == 403)
      let tag = try #require(try await stage.permissions().header("etag"))
      let waiting = stage
      async let first = waiting.permissions(tag, wait: 55)
      try await eventually("the first long poll is parked") { waiting.service.core.waiters.count == 1 }
      async let second = waiting.permissions(tag, wait: 55)
      #expect(try await first.status == 304)
      try await eventually("only the second long poll is parked") { waiting.service.core.waiters.count == 1 }
      stage.service.core.waiters.stop()
      #expect(try await second.status == 304)
      #expect(try await stage.asBox("DELETE", "/api/v1/logout").status == 204)
      #expect(try await stage.permissions(tag).status == 412)
    }
  }

  @Test func `a permission withdrawn between assertion and exchange refuses the app`() async throws {
    try await withBox { stage, _ in
      #expect(try await stage.decide("granted") == 204)
      let word = try stage.word(try await stage.request())
      #expect(try await stage.decide("undetermined") == 204)
      #expect(try await stage.verdict(word) == "permission")
      // The viewer allows it again and the box need not report that: a new request of the app is enough.
      stage.service.clock.pass(.milliseconds(1))
      #expect(try await stage.verdict(word) == "permission")
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      // A denial between assertion and exchange refuses the app. After a later grant the same assertion counts again.
      let early = try stage.word(try await stage.request(device: "app-2"))
      #expect(try await stage.decide("denied") == 204)
      #expect(try await stage.verdict(early, device: "app-2") == "permission")
      #expect(try await stage.decide("granted") == 204)
      #expect(try await stage.verdict(early, device: "app-2") == "204")
    }
  }

  @Test(arguments: [true, false])
  func `the long poll of a box completes at once when its sign-in ends`(isByItself: Bool) async throws {
    try await withBox { stage, phone in
      let tag = try #require(try await stage.permissions().header("etag"))
      let waiting = stage
      async let held = waiting.permissions(tag, wait: 55)
      try await eventually("the long poll is parked") { waiting.service.core.waiters.count == 1 }
      // The end of an app's sign-in does not complete the long poll of the box.
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

  /// The path of the page on which the phone decides about the apps of the box.
  fileprivate func appsPage() async throws -> String {
    let box = try #require(try await signIns(at: Self.maker).first)
    return "/screens/\(box.authentication.id)/apps"
  }
}

extension TestResponse {
  /// The permissions in the response to the box, by app name.
  fileprivate func decisions() throws -> [String: String] {
    let entries = try #require(try JSONValue(reading: Array(text.utf8))["permissions"]?.array)
    return try Dictionary(
      entries.map { (try #require($0["app"]?.string), try #require($0["permission"]?.string)) },
      uniquingKeysWith: { first, _ in first })
  }
}
