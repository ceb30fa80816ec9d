import HTTPTestSupport
import RegentCryptography
import MediaTokenVerifier
import RegentPairing
import PairingService
import PairingStore
import RegentPairingWire
import RegentdTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Whole flows of the entitlement API; docs/entitlement-coverage.md names these tests.
@Suite("Flows with a service", .regentd)
struct FlowRowTests {
  @Test func `calls before the completion run after it, in their order`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try AccessEnabler(live.configuration(), delegate: recorder)
    enabler.checkAuthentication()
    enabler.setRequestor(live.requestor)
    enabler.getSelectedProvider()
    enabler.checkAuthorization("news")
    enabler.getMetadata(["METADATA_OPCODE_KEY": "METADATA_AUTHENTICATION"])
    enabler.getAuthentication()
    try await recorder.wait(for: "displayProviderDialog")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR",
        "selectedProvider none", "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR",
        "tokenRequestFailed news USER_NOT_AUTHENTICATED_ERROR ",
        "setMetadataStatus METADATA_AUTHENTICATION none false",
        "displayProviderDialog local,pass,promotion",
      ])
  }

  @Test(arguments: ["http://127.0.0.1:9/done", "adobepass://ios.app"])
  func `handleExternalURL finishes a browser login and a browser logout`(home: String) async throws {
    let live = try await LiveService {
      $0.domains = []
      $0.redirectURIs = [home]
    }
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder) { $0.login = .browser(redirectURL: home) }
    // The real pages of the service. The browser keeps its cookies between login and logout.
    var browser = live.phone()
    for answer in ["deny", "approve"] {
      recorder.forget()
      enabler.getAuthentication()
      try await recorder.wait(for: "displayProviderDialog")
      enabler.setSelectedProvider(Sample.provider)
      try await recorder.wait(for: "navigateToUrl")
      try await browser.open(try path(of: recorder.callbacks.last, on: live))
      try await browser.send("open")
      if browser.address.contains("/sign-in") {
        try await browser.send("sign-in", ["user": Sample.account, "password": Regentd.password])
      }
      try await browser.send(answer)
      let refresh = try #require(browser.page.header("refresh"))
      let address = String(refresh.dropFirst("0; url=".count))
      #expect(address == home + (answer == "deny" ? "?error=access_denied" : ""))
      enabler.handleExternalURL(address)
      try await recorder.wait(for: "setAuthenticationStatus")
      #expect(
        recorder.callbacks.last
          == (answer == "deny"
            ? "setAuthenticationStatus 0 GENERIC_AUTHENTICATION_ERROR" : "setAuthenticationStatus 1 "))
    }
    try await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    #expect(browser.cookie("session") != nil)
    enabler.logout()
    try await recorder.wait(for: "navigateToUrl")
    try await browser.open(try path(of: recorder.callbacks.last, on: live))
    // The service redirects at once, without a page to confirm, and ends the browser's session.
    #expect(browser.page.status == 302 && browser.page.header("location") == home)
    #expect(browser.cookie("session") == nil)
    enabler.handleExternalURL(home)
    try await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks.last == "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR")
  }

  @Test func `a provider's secure sheet is opened by the configured program, else by the app`() async throws {
    let live = try await LiveService { $0.redirectURIs = ["adobepass://ios.app"] }
    let sheet = try await live.addSheetProvider()
    try await withTemporaryFolder { folder in
      for program in [["sh", "-c", "printf '%s.' \"$0\" > '\(folder)/shown'"], ["/nowhere/browser"], []] {
        let recorder = Recorder()
        let enabler = try await live.enabler(delegate: recorder) {
          $0.login = .browser(redirectURL: "adobepass://ios.app")
          $0.browser = program
        }
        enabler.getAuthentication()
        try await recorder.wait(for: "displayProviderDialog")
        enabler.setSelectedProvider(sheet)
        guard program.first == "sh" else {
          try await recorder.wait(for: "navigateToUrl \(live.url)/api/v1/authenticate?")
          continue
        }
        let shown = try await eventually("the page") {
          let text = String(decoding: (try? readFile("\(folder)/shown")) ?? [], as: UTF8.self)
          return text.hasSuffix(".") ? text : nil
        }
        #expect(shown.hasPrefix("\(live.url)/api/v1/authenticate?"))
        #expect(!recorder.lines.contains { $0.hasPrefix("navigateToUrl") })
      }
    }
  }

  /// The path and query of the URL that the browser must open.
  private func path(of callback: String?, on live: LiveService) throws -> String {
    let words = try #require(callback).split(separator: " ")
    let url = try #require(words.first { $0.hasPrefix(live.url) })
    return String(url.dropFirst(live.url.count))
  }

  @Test func `the app is told the number to match when the phone connects`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler { $0.numberMatching = true }
    let events = enabler.events
    let signIn = Task { try await enabler.authenticate(.provider(Sample.provider)) }
    let number = try await events.first("the number") { event -> Int? in
      if case .registrationCode(let offer) = event { try await live.open(offer.code) }
      if case .phoneConnected(let match) = event { return match }
      return nil
    }
    #expect((10...99).contains(number))
    signIn.cancel()
    _ = try? await signIn.value("the end of the sign-in")
  }

  @Test func `a denial on the phone ends the sign-in`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let (codes, seen) = AsyncStream<String>.makeStream()
    let signIn = Task {
      try await enabler.authenticate(.onSecondScreen) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer.code) }
      }
    }
    try await live.deny(try await codes.next("a code"))
    await #expect {
      _ = try await signIn.value("the end of the sign-in")
    } throws: { error in
      (error as? EntitlementError)?.kind == .denied
    }
    try await recorder.wait(for: "setAuthenticationStatus 0 GENERIC_AUTHENTICATION_ERROR")
  }

  @Test func `a code survives a restart of the box`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let storage = TokenStorage.folder("\(folder)/state")
      let (before, after) = (Recorder(), Recorder())
      var enabler: AccessEnabler? = try await live.enabler(storage, delegate: before)
      let first = try await Self.firstCode(of: try #require(enabler))
      #expect(try Self.isKept(first, in: folder), "a code is on disk before the app is told of it")
      // The process ends without deleting the code at the service.
      enabler = nil
      let second = try await live.enabler(storage, delegate: after)
      let (codes, seen) = AsyncStream<String>.makeStream()
      let signIn = Task {
        try await second.authenticate(.onSecondScreen) { event in
          if case .registrationCode(let offer) = event { seen.yield(offer.code) }
        }
      }
      let code = try await codes.next("a code")
      #expect(code == first, "\(before.lines) \(after.lines)")
      try await live.approve(code)
      #expect(try await signIn.value("the sign-in").provider.id == "local")
    }
  }

  private static func isKept(_ code: String, in folder: String) throws -> Bool {
    let bytes = (try? readFile("\(folder)/state/tokens")) ?? []
    return String(decoding: bytes, as: UTF8.self).contains(code)
  }

  private static func firstCode(of enabler: AccessEnabler) async throws -> String {
    let events = enabler.events
    enabler.getAuthentication()
    return try await events.first("a code") { event in
      if case .displayProviderDialog = event { enabler.selectProviderOnSecondScreen() }
      if case .registrationCode(let offer) = event { return offer.code }
      return nil
    }
  }
}
