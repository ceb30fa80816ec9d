import AccessEnabler
import CommandKit
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

/// All checks of `regent doctor`.
struct DoctorChecks: Sendable {
  private let call: Invocation
  private let context: AgentContext

  /// The clock difference to the service from which doctor reports it, in milliseconds.
  ///
  /// Stream servers accept media tokens up to 30 s off, so the operator should hear of a difference before that.
  private static let clockTolerance: Int64 = 10_000
  /// How long to wait for the service's response, in seconds.
  private static let patience = 10

  init(_ call: Invocation, _ context: AgentContext) {
    self.call = call
    self.context = context
  }

  /// Runs the checks.
  ///
  /// On a terminal, a progress line appears after a second.
  func shownFindings() async -> [Finding] {
    await call.console.progress("checking each address of the service (up to \(Self.patience) s)") {
      await findings()
    }
  }

  private func findings() async -> [Finding] {
    let settings: AgentSettings
    do throws(CommandError) {
      settings = try AgentSettings(call)
    } catch {
      return [.bad("settings", error), terminal()]
    }
    guard !settings.isUntouched else { return [.bad("settings", settings.notSetUp), terminal()] }
    let (search, daemon) = await daemon(settings)
    var findings = setUp(settings)
    findings.append(state(settings, search))
    for service in settings.currentServices {
      findings += Self.proxy(service, settings.proxy).map { [$0] } ?? []
      findings += await reach(service, settings)
    }
    if let timeServer = Self.timeServer(TimeSynchronization.isActive) { findings.append(timeServer) }
    findings.append(daemon)
    findings += settings.allowRules.map(Self.permissions)
    if case .found(let found) = search { findings += await AccountFindings.of(found, now: Clocks.wallMilliseconds()) }
    if !findings.contains(where: { $0.verdict == .bad }) {
      findings.append(await signIn(settings, search))
    }
    findings.append(terminal())
    return findings
  }

  private func setUp(_ settings: AgentSettings) -> [Finding] {
    var findings: [Finding] = []
    func look(_ subject: String, _ body: () throws(CommandError) -> String) {
      do throws(CommandError) {
        findings.append(Finding(subject: subject, verdict: .good, sentence: try body()))
      } catch {
        findings.append(.bad(subject, error))
      }
    }
    look("service") { () throws(CommandError) in
      try settings.neededServices().map(\.description).joined(separator: " ")
    }
    if settings.currentServices != settings.services {
      findings.append(
        Finding(
          subject: "service", verdict: .note,
          sentence:
            "the service was found at another address than \(settings.services.map(\.description).joined(separator: " "))",
          hint: "write the new address into agent.conf, so that the box need not search after its state is lost"))
    }
    look("requestor") { () throws(CommandError) in try settings.neededRequestor() }
    look("credentials") { () throws(CommandError) in
      switch try settings.credentials() {
      case .keyPair(let publicKey, _): "key pair \(publicKey)"
      case .softwareStatement: "software statement"
      }
    }
    return findings
  }

  /// The finding about a line of agent.conf: what it allows.
  static func permissions(_ rule: AllowRule) -> Finding {
    let gifts = DaemonAction.allCases.compactMap { action -> String? in
      guard let names = rule.actions[action] else { return nil }
      let isAll = !action.takesNames || names.contains("*")
      return "\(action.gives) (\(action.rawValue)\(isAll ? "" : "=" + names.joined(separator: " ")))"
    }
    return Finding(
      subject: "allow \(harmless(rule.title))", verdict: .good, sentence: harmless(gifts.joined(separator: "; ")))
  }

  private func state(_ settings: AgentSettings, _ search: DaemonSearch) -> Finding {
    let path = if case .found(let daemon) = search { daemon.home.state } else { settings.state }
    if let trouble = Self.disk(path, MountPoint.holding(path), free: try? DiskSpace.free(at: path)) { return trouble }
    if case .found = search {
      return Finding(subject: "state", verdict: .good, sentence: "\(path), kept by the daemon")
    }
    do throws(FileError) {
      try PrivateDirectory.ensure(path)
      return Finding(subject: "state", verdict: .good, sentence: path)
    } catch {
      return .bad("state", CommandError(error.description, hint: error.hint))
    }
  }

  /// The finding about the disk that holds the state folder, if the disk has a problem.
  static func disk(_ path: String, _ mount: MountPoint?, free: Int64?) -> Finding? {
    if let mount, mount.isReadOnly {
      return Finding(
        subject: "state", verdict: .bad, sentence: "\(path) is on a read-only disk: nothing can be stored",
        hint: "run mount -o remount,rw \(shellQuoted(mount.path))", exit: .failed)
    }
    if let free, free < 65_536 {
      return Finding(
        subject: "state", verdict: .bad, sentence: "\(path) is on a full disk: nothing can be stored",
        hint: "free space there: df -h \(shellQuoted(path))", exit: .failed)
    }
    if let mount, mount.isInMemory {
      return Finding(
        subject: "state", verdict: .note,
        sentence: "\(path) is in memory (\(mount.type)): after a reboot this box is no longer signed in",
        hint: "use a folder on a disk: \"state = DIR\" in /etc/regent/agent.conf, or --state DIR")
    }
    return nil
  }

  /// The finding about the proxy for a service; nil if none is set.
  static func proxy(
    _ service: AbsoluteURL, _ choice: ProxyChoice,
    variable: (String) -> String? = { ProcessEnvironment.value($0) }
  ) -> Finding? {
    guard let origin = try? ClientURL(service.description).origin else { return nil }
    let sentence: String
    switch ProxyRules(choice, variable: variable).route(to: origin) {
    case .direct: return nil
    case .excepted(let entry):
      sentence = "none for \(service.host), because of no_proxy or a loopback address: \(entry)"
    case .proxy(let address, let variable):
      sentence = "\(address) for \(service.host), set by \(variable ?? "the setting proxy")"
    case .unusable(let variable):
      return Finding(
        subject: "proxy", verdict: .bad, sentence: "\(variable) does not name an HTTP proxy",
        hint: "write it as http://proxy.example.org:3128; other proxies and passwords are not supported", exit: .usage)
    }
    return Finding(subject: "proxy", verdict: .good, sentence: sentence)
  }

  private func reach(_ service: AbsoluteURL, _ settings: AgentSettings) async -> [Finding] {
    var configuration = ClientConfiguration(
      wallClock: { Clocks.wallMilliseconds() }, buildTime: context.buildTime)
    configuration.authorities = settings.authorities
    configuration.proxy = settings.proxy
    let client = Client(configuration)
    do throws(ClientError) {
      var request = ClientRequest(
        .get, try ClientURL(service.description.trimmingSlashes + "/healthz"))
      request.deadline = .seconds(Self.patience)
      let response = try await client.send(request)
      var findings: [Finding] = []
      let health = try? JSONValue(reading: response.body)
      if response.status.isSuccess, health?["status"]?.string != nil {
        findings.append(
          Finding(subject: "reach \(service.host)", verdict: .good, sentence: "the service answers"))
      } else {
        findings.append(
          Finding(
            subject: "reach \(service.host)", verdict: .bad,
            sentence: "the answer is not Regent's health report: \(response.status)",
            hint: "check the address; it may be another program, or the network's sign-in page",
            exit: .failed))
      }
      if let date = response.serverDate { findings.append(clock(date)) }
      return findings
    } catch {
      return [
        Finding(
          subject: "reach \(service.host)", verdict: .bad, sentence: error.description,
          hint: error.hint.map { hint in
            settings.place(of: service).map { "\(hint); the address is set in \($0)" } ?? hint
          },
          exit: .unreachable)
      ]
    }
  }

  private func clock(_ serverDate: Int64) -> Finding {
    // `Date` has whole seconds; half a second later is the best estimate.
    let off = Clocks.wallMilliseconds() - serverDate - 500
    guard off.magnitude >= Self.clockTolerance.magnitude else {
      return Finding(subject: "clock", verdict: .good, sentence: "same time as the service")
    }
    // A wrong clock is only a note: signed requests use the service's time. Certificate checks and other programs use
    // the box's.
    return Finding(
      subject: "clock", verdict: .note,
      sentence: "this box's clock is \(off.magnitude / 1_000) s \(off > 0 ? "ahead of" : "behind") the service's",
      hint: "set the clock: timedatectl set-ntp true, or date -s")
  }

  /// The finding that the box's clock follows no time server; nil if it follows one, or if there is no systemd to ask.
  static func timeServer(_ isActive: Bool?) -> Finding? {
    guard isActive == false else { return nil }
    return Finding(
      subject: "time server", verdict: .note, sentence: "this box's clock follows no time server",
      hint: "run timedatectl set-ntp true; if NTP is not supported, run apt install systemd-timesyncd")
  }

  private func daemon(_ settings: AgentSettings) async -> (DaemonSearch, Finding) {
    do throws(CommandError) {
      let search = try await DaemonClient.find(settings)
      switch search {
      case .found: return (search, Finding(subject: "daemon", verdict: .good, sentence: "the daemon runs"))
      case .another(let differences):
        let finding = Finding(
          subject: "daemon", verdict: .note,
          sentence: "the daemon runs with another \(differences.joined(separator: ", ")), "
            + "so this command does not use it",
          hint: "if the settings changed after its start, run systemctl restart regent")
        return (search, finding)
      case .none:
        let finding = Finding(
          subject: "daemon", verdict: .note,
          sentence: "the daemon is not running; commands work without it",
          hint: "to start it, run systemctl enable --now regent.socket")
        return (search, finding)
      }
    } catch {
      return (.none, .bad("daemon", error))
    }
  }

  /// Sends a signed request from this process.
  ///
  /// A daemon answers from its cache, and may not know yet that a key was revoked.
  ///
  /// A software statement is not tried, because each try would register another client.
  private func tryKeyPair(_ settings: AgentSettings) async throws(CommandError) {
    guard case .keyPair = try settings.credentials() else { return }
    let enabler = try settings.enabler(leavesNoTrace: true, buildTime: context.buildTime)
    let requestor = try settings.neededRequestor()
    do throws(EntitlementError) {
      _ = try await enabler.configure(requestor: requestor)
    } catch {
      throw CommandError(error)
    }
  }

  private func signIn(_ settings: AgentSettings, _ search: DaemonSearch) async -> Finding {
    do throws(CommandError) {
      if case .found = search { try await tryKeyPair(settings) }
      let source = try await context.source(settings)
      // Only a request that the service must answer shows that it accepts the credentials.
      _ = try await source.providers()
      let status = try await source.status()
      guard let signIn = status.signIn else {
        if status.isAccountDisabled { throw CommandError(.accountDisabled) }
        return Finding(
          subject: "sign-in", verdict: .note, sentence: "not signed in",
          hint: "sign in: regent pair")
      }
      return Finding(
        subject: "sign-in", verdict: .good,
        sentence: "signed in with \(signIn.providerName)")
    } catch {
      return .bad("sign-in", error)
    }
  }

  private func terminal() -> Finding {
    guard call.console.output.isTerminal else {
      return Finding(
        subject: "terminal", verdict: .note, sentence: "there is no terminal; regent pair prints lines")
    }
    let facts = TerminalFacts(of: 1, call.environment)
    guard facts.canBeDrawnOn else {
      return Finding(
        subject: "terminal", verdict: .note,
        sentence: "TERM=\(facts.type ?? "") cannot show a full screen; regent pair prints lines",
        hint: "set TERM to the type of the terminal")
    }
    let capabilities = facts.capabilities
    let size = WindowSize(of: 1)
    let room = size.map { "\($0.columns)×\($0.rows)" } ?? "of unknown size"
    switch capabilities.glyphs {
    case .halfBlocks:
      return Finding(
        subject: "terminal", verdict: .good, sentence: "\(room), small QR codes with half blocks")
    case .fullBlocks, .ascii:
      return Finding(
        subject: "terminal", verdict: .note,
        sentence: "\(room), only large QR codes: \(reason(facts))",
        hint: "use --qr framebuffer on a console, or a UTF-8 locale: LANG=C.UTF-8")
    }
  }

  private func reason(_ facts: TerminalFacts) -> String {
    if let console = facts.console {
      return console.isUnicode
        ? "its font has no half blocks" : "the console is not in Unicode mode"
    }
    return facts.type == "linux" ? "its font is unknown" : "the locale is not UTF-8"
  }
}
