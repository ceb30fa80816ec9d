import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("Machine: the browser, and signing out")
struct BrowserAndLeavingTests {
  @Test func `a browser gets the login page and its return finishes the sign-in`() {
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
  func `the secure sheet is asked for when the app can show it`(provider: String, handles: Bool, asks: Bool) {
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

  @Test func `a browser that comes back with an error was denied`() {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.call(.handleExternalURL("app://done?error=access_denied"))
    #expect(bench.error(of: request)?.kind == .denied)
  }

  @Test func `a browser that comes back without a sign-in leaves none`() {
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

  /// An app that was killed while its browser was at the provider's pages, and started again.
  private func restarted() -> Bench {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    return Bench.ready(tokens: bench.machine.tokens) { $0.login = .browser(redirectURL: "app://done") }
  }

  @Test func `an app that was restarted meanwhile can finish the sign-in too`() {
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
  func `only the address of the flow under way finishes it`(url: String) {
    let isOurs = ["", "APP://done", "app://done?", "app://done#x", "app://done?state=1&x=2"].contains(url)
    for bench in [restarted(), browsing(), leaving()] {
      var bench = bench
      let phase = bench.machine.phase
      let request = bench.call(.handleExternalURL(url))
      #expect((bench.error(of: request)?.kind == .outOfOrder) == !isOurs)
      #expect((bench.machine.phase == phase) == !isOurs)
    }
    // Nothing is under way: nobody waits for any address.
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
  func `a browser may write scheme and host of the redirect URL in lower case`(
    registered: String, url: String, isOurs: Bool
  ) {
    var bench = Bench.ready { $0.login = .browser(redirectURL: registered) }
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.forget()
    let request = bench.call(.handleExternalURL(url))
    #expect((bench.error(of: request) == nil) == isOurs)
    // The app is told of a refusal, with the URL.
    #expect(bench.statuses.contains(.internalError) == !isOurs)
  }

  @Test func `a secure sheet comes back to its own redirect URL, other pages to theirs`() throws {
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
  func `the sheet of a provider is the app's, or the named browser's, for logging in and out`(
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

  @Test func `signing out is first here, then there`() {
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

  @Test func `signing out without a network is remembered for the service`() {
    var bench = Bench.signedIn()
    let request = bench.call(.logout)
    bench.answer(.failed(.away))
    #expect(bench.outcomes(of: request) == [.signedOut])
    #expect(bench.machine.tokens.authentication == nil)
    #expect(bench.machine.tokens.unfinishedLogouts == [Bench.service])
  }

  @Test func `a browser visits the logout pages and the rest follows its return`() {
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

  @Test func `the ticket of the sign-out goes with the browser, before the redirect URL`() {
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

  @Test func `signing out ends what goes on`() {
    var (bench, request) = Bench.waiting()
    let logout = bench.call(.logout)
    #expect(bench.error(of: request)?.kind == .cancelled)
    #expect(bench.sent.filter { $0.operation == .deleteCode("BCDFGHJK") }.count == 1)
    while !bench.open.isEmpty { bench.answer(.done) }
    #expect(bench.outcomes(of: logout) == [.signedOut])
  }

  @Test func `calls while signing out come afterwards`() {
    var bench = Bench.signedIn()
    bench.call(.logout)
    let check = bench.call(.checkAuthentication)
    #expect(bench.outcomes(of: check).isEmpty)
    bench.answer(.done)
    #expect(bench.error(of: check)?.kind == .notAuthenticated)
  }
}
