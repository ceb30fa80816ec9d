import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("State machine: login in a browser and signing out")
struct BrowserAndLeavingTests {
  @Test func `with a browser login the app is sent to the login page and the browser's return finishes the sign-in`() {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "http://127.0.0.1:9/done") }
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    let url =
      "https://one.example/api/v1/authenticate?reg_code=BCDFGHJK&requestor_id=SPORT&mso_id=CABLE"
      + "&domain_name=sport.example&noflash=true&no_iframe=true"
      + "&redirect_url=http%3A%2F%2F127.0.0.1%3A9%2Fdone"
    #expect(bench.told.last == .navigateToUrl(url, useSecureSheet: false))
    bench.call(.handleExternalURL("http://127.0.0.1:9/done"))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
    #expect(bench.error(of: request) == nil)
  }

  @Test(arguments: [("SHEET", true, true), ("SHEET", false, false), ("CABLE", true, false)])
  func `a provider that wants a secure sheet gets one when the app can show it`(
    provider: String, handles: Bool, asks: Bool
  ) {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    bench.send(.setOptions(EnablerOptions(handlesSecureSheet: handles)))
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider(provider))))
    bench.answer(.code(.offered))
    guard case .navigateToUrl(_, let usesSheet)? = bench.told.last else {
      Issue.record("no URL")
      return
    }
    #expect(usesSheet == asks)
  }

  @Test func `a browser that returns with access_denied ends the sign-in as denied`() {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.call(.handleExternalURL("app://done?error=access_denied"))
    #expect(bench.error(of: request)?.kind == .denied)
  }

  @Test func `a browser that returns with another error than access_denied ends the sign-in as failed`() {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.call(.handleExternalURL("app://done?x=1&error=server_error#error=access_denied"))
    #expect(bench.error(of: request)?.kind == .service)
    #expect(bench.error(of: request)?.message.contains("server_error") == true)
    #expect(bench.told.contains(.setAuthenticationStatus(.notAuthenticated, .genericAuthentication)))
  }

  @Test func `a browser that returns without a sign-in at the service fails the request and leaves the app signed out`()
  {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.call(.handleExternalURL("app://done"))
    bench.answer(.missing)
    #expect(bench.error(of: request)?.area == .other)
    #expect(
      bench.told.filter(\.isCallback).last
        == .setAuthenticationStatus(.notAuthenticated, .genericAuthentication))
  }

  /// An app that was killed while its browser showed the provider's pages, and was started again.
  private func restarted() -> Bench {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    return Bench.ready(tokens: bench.machine.tokens) { $0.login = .browser(redirectURL: "app://done") }
  }

  @Test func `an app that was restarted during the browser login can finish the sign-in`() {
    var bench = restarted()
    let request = bench.call(.handleExternalURL("app://done"))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
    #expect(bench.error(of: request) == nil)
  }

  @Test(arguments: [
    "app://done/", "app://done.evil", "app://done?", "app://other", "https://app/done", "APP://done", "app://done#x",
    "", "app://done?state=1&x=2",
  ])
  func `handleExternalURL accepts only the redirect URL of the flow under way`(url: String) {
    let isOurs = ["", "APP://done", "app://done?", "app://done#x", "app://done?state=1&x=2"].contains(url)
    for bench in [restarted(), browsing(), leaving()] {
      var bench = bench
      let phase = bench.machine.phase
      let request = bench.call(.handleExternalURL(url))
      #expect((bench.error(of: request)?.kind == .outOfOrder) == !isOurs)
      #expect((bench.machine.phase == phase) == !isOurs)
    }
    // Without a flow under way every URL is refused.
    var idle = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    let request = idle.call(.handleExternalURL(url))
    #expect(idle.error(of: request)?.kind == .outOfOrder && idle.open.isEmpty)
  }

  @Test(arguments: [
    ("adbe.u-XFXJeTSDuJiIQs0HVRAg://adobe.com", "adbe.u-xfxjetsdujiiqs0hvrag://adobe.com?error=access_denied", true),
    ("adbe.App://Adobe.com/Done", "adbe.app://adobe.com/Done", true),
    ("adbe.App://Adobe.com/Done", "adbe.app://adobe.com/done", false),
    ("http://127.0.0.1:9", "http://127.0.0.1:9/", true), ("http://127.0.0.1:9", "http://127.0.0.1:9/x", false),
    ("http://127.0.0.1:9/done", "http://127.0.0.1:90/done", false),
  ])
  func `a browser may lower-case the scheme and the host of the redirect URL, but not the path`(
    registered: String, url: String, isOurs: Bool
  ) {
    var bench = Bench.ready { $0.login = .browser(redirectURL: registered) }
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.forget()
    let request = bench.call(.handleExternalURL(url))
    #expect((bench.error(of: request) == nil) == isOurs)
    // A refused URL is reported to the app as an internal error.
    #expect(bench.statuses.contains(.internalError) == !isOurs)
  }

  @Test func `a secure sheet returns to its own redirect URL, an ordinary page to the usual one`() throws {
    for (provider, handlesSheet, home) in [
      (Bench.sheet, true, "adbe.app://sheet"), (Bench.sheet, false, "app://done"), (Bench.cable, true, "app://done"),
    ] {
      var bench = Bench.ready {
        $0.login = .browser(redirectURL: "app://done")
        $0.sheetRedirectURL = "adbe.App://sheet"
      }
      bench.send(.setOptions(EnablerOptions(handlesSecureSheet: handlesSheet)))
      let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider(provider.id))))
      bench.answer(.code(.offered))
      let pages: [String] = bench.told.compactMap { if case .navigateToUrl(let url, _) = $0 { url } else { nil } }
      let wanted = home == "app://done" ? "app%3A%2F%2Fdone" : "adbe.App%3A%2F%2Fsheet"
      #expect(try #require(pages.last).hasSuffix("redirect_url=" + wanted), "\(pages)")
      bench.call(.handleExternalURL(home))
      bench.answer(.granted)
      #expect(bench.error(of: request) == nil && bench.outcomes(of: request).count == 1)
    }
  }

  private func browsing() -> Bench {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    return bench
  }

  private func leaving() -> Bench {
    var bench = Bench.signedIn { $0.login = .browser(redirectURL: "app://done") }
    bench.call(.logout)
    bench.answer(.done)
    return bench
  }

  @Test(arguments: [(true, false), (true, true), (false, true), (false, false)])
  func `a secure sheet is opened by the app when it can, else by the configured browser, for login and logout`(
    handles: Bool, names: Bool
  ) {
    let sheet = Bench.sheet
    var tokens = RequestorTokens()
    tokens.authentication = StoredAuthentication(
      signIn: SignIn(provider: sheet, userID: "user", expires: Bench().now + .seconds(86_400)),
      service: Bench.service)
    for isLogout in [false, true] {
      var bench = Bench.ready(tokens: isLogout ? tokens : RequestorTokens()) {
        $0.login = .browser(redirectURL: "app://done")
        $0.opensBrowser = names
      }
      bench.send(.setOptions(EnablerOptions(handlesSecureSheet: handles)))
      if isLogout {
        bench.call(.logout)
        bench.answer(.signedOut(ticket: "t.i.c"))
      } else {
        bench.call(.getAuthentication(AuthenticationRequest(choice: .provider(sheet.id))))
        bench.answer(.code(.offered))
      }
      let navigated = bench.told.compactMap { event -> Bool? in
        if case .navigateToUrl(_, let usesSheet) = event { usesSheet } else { nil }
      }
      #expect(navigated == (handles ? [true] : names ? [] : [false]))
      #expect(bench.opened.count == (handles || !names ? 0 : 1))
    }
  }

  // MARK: Signing out

  @Test func `signing out deletes the local sign-in before the service is told`() {
    var bench = Bench.signedIn()
    let request = bench.call(.logout)
    #expect(bench.machine.tokens.authentication == nil)
    #expect(bench.open.map(\.operation) == [.logout])
    #expect(bench.told.isEmpty)
    bench.answer(.done)
    #expect(bench.told == [.setAuthenticationStatus(.notAuthenticated, .userNotAuthenticated)])
    #expect(bench.outcomes(of: request) == [.signedOut])
    #expect(bench.machine.tokens.unfinishedLogouts.isEmpty)
  }

  @Test func `a logout that the service did not receive is kept until the service can be told`() {
    var bench = Bench.signedIn()
    let request = bench.call(.logout)
    bench.answer(.failed(.away))
    #expect(bench.outcomes(of: request) == [.signedOut])
    #expect(bench.machine.tokens.authentication == nil)
    #expect(bench.machine.tokens.unfinishedLogouts == [Bench.service])
  }

  @Test func `with a browser login the logout ends when the browser returns from the logout page`() {
    var bench = Bench.signedIn { $0.login = .browser(redirectURL: "app://done") }
    let request = bench.call(.logout)
    bench.answer(.done)
    #expect(
      bench.told == [
        .navigateToUrl(
          "https://one.example/logout?requestor_id=SPORT&redirect_url=app%3A%2F%2Fdone",
          useSecureSheet: false)
      ])
    #expect(bench.outcomes(of: request).isEmpty)
    bench.call(.handleExternalURL("app://done"))
    #expect(bench.told.last == .setAuthenticationStatus(.notAuthenticated, .userNotAuthenticated))
    #expect(bench.outcomes(of: request) == [.signedOut])
  }

  @Test func `the logout URL carries the service's ticket before the redirect URL`() {
    var bench = Bench.signedIn { $0.login = .browser(redirectURL: "app://done") }
    bench.call(.logout)
    bench.answer(.signedOut(ticket: "1a.b-_.c"))
    #expect(
      bench.told == [
        .navigateToUrl(
          "https://one.example/logout?requestor_id=SPORT&ticket=1a.b-_.c&redirect_url=app%3A%2F%2Fdone",
          useSecureSheet: false)
      ])
  }

  @Test func `signing out cancels a sign-in under way and deletes its code`() {
    var (bench, request) = Bench.waiting()
    let logout = bench.call(.logout)
    #expect(bench.error(of: request)?.kind == .cancelled)
    #expect(bench.sent.filter { $0.operation == .deleteCode("BCDFGHJK") }.count == 1)
    while !bench.open.isEmpty { bench.answer(.done) }
    #expect(bench.outcomes(of: logout) == [.signedOut])
  }

  @Test func `calls made during a logout run after it`() {
    var bench = Bench.signedIn()
    bench.call(.logout)
    let check = bench.call(.checkAuthentication)
    #expect(bench.outcomes(of: check).isEmpty)
    bench.answer(.done)
    #expect(bench.error(of: check)?.kind == .notAuthenticated)
  }
}
