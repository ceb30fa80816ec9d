import AccessEnabler
import Glibc
import HTTPTestSupport

/// Runs an app that a test operates as a viewer would: it obeys a line of standard input each, and prints what the
/// enabler reports, a line each.
///
/// Arguments: the store's folder, service, requestor, public key, secret, the daemon's socket.
///
/// Lines: `get`, `force`, `check`, `logout`, `requestor`, `who`; `provider ID`, `other` and `cancel` answer the
/// platform's dialog; `select ID` and `back` answer the app's own picker or leave the code. `who` prints the stored
/// sign-in. The app ends with its input.
func operateApp(_ words: [String]) async throws {
  let enabler = try enabler(Array(words[1...4]), .socket(words[5]), words[0])
  let events = enabler.events
  Task.detached {
    for await event in events { show(event) }
  }
  enabler.setRequestor(words[2])
  // A thread of its own, because a blocked thread of the pool would hold up the enabler.
  let (lines, seen) = AsyncStream.makeStream(of: String.self)
  startThread {
    while let line = readLine() { seen.yield(line) }
    seen.finish()
  }
  for await line in lines {
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    switch (parts.first, parts.dropFirst().first) {
    case ("get", _): enabler.getAuthentication()
    case ("force", _): enabler.getAuthentication(force: true)
    case ("check", _): enabler.checkAuthentication()
    case ("logout", _): enabler.logout()
    case ("requestor", _): enabler.setRequestor(words[2])
    case ("who", _):
      let signIn = await enabler.keptSignIn(of: words[2])
      show(signIn.map { "in \($0.source.rawValue) \($0.provider.id)" } ?? "out")
    case ("provider", let id?): enabler.answerTvProviderDialog(.provider(id))
    case ("other", _): enabler.answerTvProviderDialog(.other)
    case ("cancel", _): enabler.answerTvProviderDialog(.cancel)
    case ("select", let id?): enabler.setSelectedProvider(id)
    case ("back", _): enabler.setSelectedProvider(nil)
    default:
      show("unknown line: \(line)")
      exit(2)
    }
  }
}

private func show(_ event: EntitlementEvent) {
  switch event {
  case .setRequestorComplete(let status): show("complete \(status.rawValue)")
  case .displayProviderDialog(let providers): show("dialog \(providers.map(\.id).joined(separator: ","))")
  case .presentTvProviderDialog(let dialog): show("present \(dialog.providers.map(\.id).joined(separator: ","))")
  case .dismissTvProviderDialog: show("dismiss")
  case .registrationCode(let offer): show("code \(offer.code)")
  case .setAuthenticationStatus(let status, let code):
    show("authentication \(status.rawValue) \(code.rawValue)")
  // The code has its own line.
  case .status(let status) where status.id == .registrationCode: break
  case .status(let status):
    show("status \(status.id.rawValue) \(status.message) \(status.extras["details"] ?? "")")
  default: break
  }
}

private func show(_ line: String) {
  // Not `print`: `fflush(nil)` would wait for the thread that reads standard input.
  let bytes = Array((line + "\n").utf8)
  _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
}
