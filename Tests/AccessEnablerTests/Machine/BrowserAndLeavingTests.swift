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

  @Test(arguments: [(true, true), (false, false)])
  func `the secure sheet is asked for when the app can show it`(handles: Bool, asks: Bool) {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    bench.send(.setOptions(EnablerOptions(handlesSecureSheet: handles)))
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("SHEET"))))
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

  @Test func `an app that was restarted meanwhile can finish the sign-in too`() {
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    let request = bench.call(.handleExternalURL("app://done"))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
    #expect(bench.error(of: request) == nil)
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
