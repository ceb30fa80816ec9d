import AccessEnabler
import PairingService
import PairingStore
import RegentJSON
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

/// The platform account between real programs: a daemon, apps that run as Unix users, and the SDK in this process.
@Suite(.enabled(if: Accounts.effectiveUser == 0 && installedProgram("setpriv") != nil))
struct `The platform account between programs` {

  @Test func `each Unix user is its own app, an unknown user is refused, and a decision takes effect at once`()
    async throws
  {
    try await withPlatformBox(
      "app = one user:\(AppUser.first) requestor:REF30", "app = two user:\(AppUser.second) requestor:REF30",
      "app = own requestor:REF30 socket:own user:\(AppUser.first)"
    ) { (box: PlatformBox) async throws in
      #expect(try await box.ask("status", as: AppUser.first)["permission"] == "undetermined")
      #expect(try await box.ask("status", as: AppUser.stranger)["error"]?["code"] == "not-an-app")
      #expect(
        try await box.ask("status", as: 65_534)["error"]?["code"] == "not-an-app",
        "overflow ids are nobody")
      #expect(try await box.run(["sso", "grant", "one"]).status == 0)
      #expect(try await box.ask("status", as: AppUser.first)["permission"] == "granted")
      #expect(try await box.ask("status", as: AppUser.second)["permission"] == "undetermined")
      // A claimed app name is ignored; the kernel says which user asks.
      let claimed = try await box.ask("status", as: AppUser.second, #""app":"one","#)
      #expect(claimed["app"] == "two" && claimed["permission"] == "undetermined")
      #expect(try await box.run(["sso", "deny", "two"]).status == 0)
      #expect(try await box.ask("access", as: AppUser.second, #""prompt":true,"#)["prompt"] == "decided")
      // The socket of one app accepts that app only.
      let own = "regent/apps/own.sock"
      #expect(try await box.ask("status", as: AppUser.first, on: own)["app"] == "own")
      #expect(try await box.ask("status", as: AppUser.second, on: own)["error"]?["code"] == "not-an-app")
      let listed = try await box.run(["sso", "permissions", "--json"])
      #expect(try JSONValue(reading: listed.output).array?.count == 3)
      let doctor = try await box.run(["doctor"])
      #expect(
        doctor.outputText.contains("user \(AppUser.stranger) asked 1 times for REF30, but is not an app in agent.conf"))
      let status = try await box.run(["sso", "status"])
      #expect(status.outputText.contains("user \(AppUser.stranger) asked for REF30, but is not an app in agent.conf"))
      #expect(try await box.run(["sso", "grant", "nobody-of-that-name"]).status == 2)
    }
  }

  @Test func `a process in a user namespace counts as its user outside`() async throws {
    try await withPlatformBox("app = one user:\(AppUser.first) requestor:REF30") { (box: PlatformBox) async throws in
      let inside = try await box.shell(
        "setpriv --reuid=\(AppUser.first) --regid=\(AppUser.first) --clear-groups unshare -U true 2>/dev/null && echo yes || true"
      )
      guard inside.outputText == "yes\n" else { return }
      #expect(try await box.ask("status", as: AppUser.first, before: "unshare -U")["app"] == "one")
      #expect(
        try await box.ask("status", as: AppUser.first, before: "unshare -Ur")["app"] == "one",
        "not root")
      let code = try await box.ask("status", as: AppUser.stranger, before: "unshare -Ur")["error"]?["code"]
      #expect(code == "not-an-app", "who is root inside is nobody here")
    }
  }

  @Test func `the viewer's decisions about apps survive when the daemon is killed`() async throws {
    try await withPlatformBox("app = one user:\(AppUser.first) requestor:REF30") { (box: PlatformBox) async throws in
      #expect(try await box.run(["sso", "grant", "one"]).status == 0)
      try await box.restart(signal: 9)
      #expect(try await box.ask("status", as: AppUser.first)["permission"] == "granted")
      // A denial takes effect even when it cannot be written: a folder is in place of the file.
      _ = try await box.shell("rm state/platform/permissions && mkdir -m 700 state/platform/permissions")
      let denied = try await box.run(["sso", "deny", "one"])
      #expect(denied.status == 1 && denied.errorText.contains("could not be stored"))
      #expect(try await box.ask("status", as: AppUser.first)["permission"] == "denied")
    }
  }

  @Test func `setRequestor reports the state of the platform account to the app`() async throws {
    try await withPlatformBox("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      #expect(try await box.statuses() == [.permissionUndetermined])
      #expect(try await box.run(["sso", "deny", "probe"]).status == 0)
      #expect(try await box.statuses() == [.permissionDenied])
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      #expect(try await box.statuses() == [], "the box is not signed in: no status")
      let account = try #require(PlatformAccount(requestor: "REF30", at: .socket(box.socket)))
      #expect(try await account.status() == PlatformStatus(permission: .granted, isSignedIn: false))
      #expect(try await account.access(prompt: true) == .granted)
      let other = try #require(PlatformAccount(requestor: "NEWS", at: .socket(box.socket)))
      #expect(try await other.status() == nil)
      // A socket file without a listener.
      try await box.stop(signal: 9)
      #expect(try await box.statuses() == [.platformAccount])
      #expect(PlatformAccount(requestor: "REF30", at: .socket("\(box.folder)/nothing")) == nil)
    }
  }

  @Test func `after one sign-in on the box its permitted apps are signed in without a step`() async throws {
    try await withPlatformBox("app = probe user:0 requestor:REF30", "app = one user:\(AppUser.first) requestor:REF30") {
      (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      let enabler = try box.enabler(storage: .folder("\(box.folder)/app"))
      #expect(try await box.start(enabler) == [])
      let signIn = try #require(await enabler.currentSignIn())
      #expect(signIn.source == .platform && signIn.provider.id == Sample.provider)
      let source = try await enabler.metadata(.user("tokenSource"))
      #expect(source.value == .text("platform"))
      // Coming to the front again finds the same sign-in.
      #expect(try await box.start(enabler) == [])
      #expect(await enabler.currentSignIn() == signIn)
      // An installation that lost its tokens but not its device id gets its sign-in from the service.
      _ = try await box.shell("rm app/tokens")
      let again = try box.enabler(storage: .folder("\(box.folder)/app"))
      #expect(try await box.start(again) == [])
      #expect(await again.currentSignIn()?.source == .platform)
      // A second installation of the same app is signed in without a step. An app without permission is not.
      let second = try box.enabler(storage: .folder("\(box.folder)/second"))
      #expect(try await box.start(second) == [])
      #expect(await second.currentSignIn()?.source == .platform)
      let word = try await box.ask("account", as: AppUser.first)
      #expect(word["error"]?["code"] == "undetermined")
      // The viewer denies access: this takes effect at once, and the service is told.
      #expect(try await box.run(["sso", "deny", "probe"]).status == 0)
      #expect(await enabler.currentSignIn() == nil)
      try await eventually("the service ends what came from the box") {
        (try? await second.metadata(.user("tokenSource"))) == nil
      }
      #expect(try await box.start(enabler) == [.permissionDenied])
      // After a new grant the next start exchanges the account again.
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      try await eventually("the app is in again") {
        _ = try await box.start(enabler)
        return await enabler.currentSignIn() != nil
      }
    }
  }

  @Test func `an app's logout reports that the box is still signed in, and signing the box out ends its apps`()
    async throws
  {
    try await withPlatformBox("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      let enabler = try box.enabler()
      #expect(try await box.start(enabler) == [])
      let told = Locked<[String]>([])
      let events = enabler.events
      enabler.logout()
      let heard = try await events.first("both answers") { event in
        if case .status(let status) = event { told.withLock { $0.append(status.id.rawValue) } }
        if case .setAuthenticationStatus(let status, _) = event { told.withLock { $0.append("\(status.rawValue)") } }
        return told.withLock { $0.count == 2 ? $0 : nil }
      }
      #expect(heard.sorted() == ["0", "VSA203"])
      #expect(try await box.start(enabler) == [])
      #expect(await enabler.currentSignIn() != nil, "the next start signs in again")
      let out = try await box.run(["sso", "sign-out"])
      #expect(out.outputText.contains("probe"))
      #expect(await enabler.currentSignIn() == nil)
      #expect(try await box.start(enabler) == [])
      #expect(await enabler.currentSignIn() == nil)
    }
  }

  @Test func `a state folder that was copied to another machine does not open the box's key`() async throws {
    try await withPlatformBox("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      #expect(try await box.start(try box.enabler()) == [])
      let key = try #require((try JSONValue(reading: try readFile("\(box.folder)/state/platform/key"))).object)
      let mark = try #require(key["signIn"]?.string)
      try writeFile("\(box.folder)/machine", "another machine".utf8)
      let there = try BoxKeyFile(folder: "\(box.folder)/state/platform", machineIDFile: "\(box.folder)/machine")
      #expect(try there.key(of: mark) == nil)
      #expect(
        try BoxKeyFile(folder: "\(box.folder)/state/platform").key(of: mark) != nil, "here it opens"
      )
    }
  }

  @Test func `a program other than the agent on the socket learns nothing and can grant nothing`() async throws {
    try await withPlatformBox("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      let script = """
        import os, socket
        s = socket.socket(socket.AF_UNIX)
        s.bind("false/agent.sock")
        os.chmod("false/agent.sock", 0o666)
        s.listen()
        print("ready", flush=True)
        while True:
            c, _ = s.accept()
            print("heard", len(c.recv(1000)), flush=True)
            body = b'{"version":1,"permission":"granted","signedIn":true,"provider":"local"}'
            c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
            c.close()
        """
      try writeFile("\(box.folder)/false.py", script.utf8, mode: 0o644)
      _ = try await box.shell("mkdir -m 755 false && chown \(AppUser.first) false")
      let listener = try RunningProgram(
        "setpriv",
        [
          "--reuid=\(AppUser.first)", "--regid=\(AppUser.first)", "--clear-groups", "sh", "-c",
          "cd \(box.folder) && python3 false.py",
        ],
        environment: box.environment, standardOutput: "\(box.folder)/false.out",
        standardError: "\(box.folder)/false.err")
      defer { listener.signal(9) }
      try await eventually("the false daemon") { box.text("false.out").contains("ready") }
      #expect(try await box.statuses(at: "\(box.folder)/false/agent.sock") == [.platformAccount])
      #expect(box.text("false.out") == "ready\nheard 0\n" || box.text("false.out") == "ready\n")
    }
  }
}
