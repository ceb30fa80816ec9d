import AccessEnabler
import Glibc
import HTTPServer
import RegentCryptography
import RegentHTTPCodec
import ServiceTestSupport
import TestSupport

/// An app on a box with a browser: it signs in with a provider that needs a secure sheet, and out again.
///
/// The app shows no page itself. It prints what happens, a line each, and waits for a line on standard input before
/// it signs out.
func useNamedBrowser(_ words: [String]) async throws {
  let (service, requestor, publicKey, secret) = (words[0], words[1], words[2], words[3])
  let (provider, program) = (words[4], Array(words.dropFirst(5)))
  let home = "http://127.0.0.1:\(try freePort())"
  var configuration = EnablerConfiguration(
    credentials: .keyPair(publicKey: publicKey, secret: Secret(secret)), services: [service], storage: .memory)
  configuration.login = .browser(redirectURL: "\(home)/done")
  configuration.browser = program
  let app = SheetlessApp()
  let enabler = try AccessEnabler(configuration, delegate: app)
  // The redirect URL of the browser; the enabler ignores other requests.
  let listener = ClosureHandler { request in
    enabler.handleExternalURL(home + String(decoding: request.target, as: UTF8.self))
    return .now(Response(.ok, body: Array("done".utf8)))
  }
  guard let port = home.split(separator: ":").last.flatMap({ UInt16($0) }) else { throw TestSupportError(home) }
  let server = try Server([Listener(.network(.loopback, port: port), handler: listener)])
  defer { server.stop(within: .milliseconds(100)) }
  try await enabler.configure(requestor: requestor)
  let signIn = try await enabler.authenticate(.provider(provider))
  say("signed in at \(signIn.provider.id)")
  _ = readLine()
  try await enabler.signOut()
  say("signed out, \(await enabler.currentSignIn() == nil ? "nobody is in" : "somebody is still in")")
}

private func say(_ line: String) {
  print(line)
  fflush(nil)
}

/// An app that cannot show pages; being asked to show one is a failure.
private final class SheetlessApp: EntitlementDelegate {
  func navigateToUrl(_ url: String) async { say("the app was asked to show \(url)") }
  func navigateToUrl(_ url: String, useSVC: Bool) async { say("the app was asked to show the sheet \(url)") }
  func setRequestorComplete(_ status: EnablerStatus) async {}
  func displayProviderDialog(_ providers: [MVPD]) async {}
  func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) async {}
  func setToken(_ token: String, forResource resource: String) async {}
  func tokenRequestFailed(_ resource: String, code: EntitlementCode, description: String) async {}
}
