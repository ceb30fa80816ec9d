import CommandKit
import RegentJSON
import RegentPairing
import RegentPlatform

/// The findings of `doctor` about the box's TV provider account and its apps.
///
/// There are none if the box has no app.
enum AccountFindings {
  /// A sign-in that expires within this time gets a note, in milliseconds.
  private static let soon: Int64 = 3 * 86_400_000

  static func of(_ daemon: DaemonClient, now: Int64) async -> [Finding] {
    let status: JSONValue
    do throws(CommandError) {
      status = try await daemon.sso("status")
    } catch {
      // There is no finding if this user may not ask the daemon, or if the daemon is of an earlier version.
      guard !["not-allowed", "no-such-call"].contains(error.code) else { return [] }
      return [.bad("account", error)]
    }
    return of(status, now: now)
  }

  static func of(_ status: JSONValue, now: Int64) -> [Finding] {
    let apps = status["apps"]?.array ?? []
    var findings = (status["refused"]?.array ?? []).map(refusal)
    if let lost = status["decisionsLost"]?.string {
      findings.append(
        Finding(
          subject: "apps", verdict: .note, sentence: lost,
          hint:
            "make sure that only the daemon's user can write to this file; check the permissions: regent sso permissions"
        ))
    }
    guard !apps.isEmpty else { return findings }
    findings.insert(account(status, apps, now: now), at: 0)
    for app in apps {
      guard let refusal = app["refusal"]?.string, app["permission"]?.string == "granted" else { continue }
      let sentence = "\(app["app"]?.string ?? "") cannot use the box's account: \(refusal)"
      findings.append(Finding(subject: "apps", verdict: .bad, sentence: sentence, hint: nil, exit: .failed))
    }
    let unnamed = apps.filter { $0["named"]?.bool == false }.compactMap { $0["app"]?.string }
    if let first = unnamed.first {
      findings.append(
        Finding(
          subject: "apps", verdict: .note,
          sentence: "there are permissions for apps that agent.conf does not name: \(unnamed.joined(separator: ", "))",
          hint: "add a line \"app = \(first) …\" to /etc/regent/agent.conf, or run regent sso reset \(first)"))
    }
    return findings
  }

  private static func account(_ status: JSONValue, _ apps: [JSONValue], now: Int64) -> Finding {
    if let failure = status["failure"]?.string {
      return Finding(
        subject: "account", verdict: .bad, sentence: "the box's account cannot be used: \(failure)",
        hint: "sign in again: regent sso sign-in --force", exit: .failed)
    }
    if let refusal = status["refusal"]?.string {
      return Finding(
        subject: "account", verdict: .bad,
        sentence: "the service does not allow apps to use the box's account: \(refusal)",
        hint: "ask the service's operator to run regentctl requestor set ID --platform on", exit: .failed)
    }
    guard let provider = status["providerName"]?.string, let expires = status["expires"]?.int64 else {
      return Finding(
        subject: "account", verdict: .note, sentence: "there are \(apps.count) apps, but the box is not signed in",
        hint: "sign in: regent sso sign-in")
    }
    let granted = apps.filter { $0["permission"]?.string == "granted" }.count
    let days = max(0, expires - now) / 86_400_000
    let sentence = "\(provider), for \(granted) of \(apps.count) apps, ends in \(days) days"
    return expires - now < soon
      ? Finding(
        subject: "account", verdict: .note, sentence: sentence, hint: "sign in again: regent sso sign-in --force")
      : Finding(subject: "account", verdict: .good, sentence: sentence)
  }

  private static func refusal(_ refusal: JSONValue) -> Finding {
    let user = refusal["user"]?.int64 ?? 0
    let requestor = refusal["requestor"]?.string ?? ""
    let name = UInt32(exactly: user).map { Accounts.title(of: $0) } ?? String(user)
    // Any local user chooses this text. In a line for agent.conf, a text with spaces would be several words.
    let isOneWord = RequestorID(requestor) != nil && !requestor.contains(where: \.isWhitespace)
    return Finding(
      subject: "apps", verdict: .note,
      sentence: "user \(name) asked \(refusal["count"]?.int64 ?? 1) times for "
        + "\(isOneWord ? requestor : "an invalid requestor"), but is not an app in agent.conf",
      hint: "if it should be one, add to /etc/regent/agent.conf: app = NAME user:\(name) "
        + "requestor:\(isOneWord ? requestor : "ID")")
  }
}
