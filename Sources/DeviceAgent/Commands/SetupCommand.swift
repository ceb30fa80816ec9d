import AccessEnabler
import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// `regent setup`: enrols this machine as a box.
enum SetupCommand {
  private static let code = Input.option(
    "code", .text("CODE"),
    "the code from regentctl requestor invite, with or without the address; - for standard input")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "setup", "enrol this box with a code and write its settings",
      details: """
        Finds services that announce themselves on the local network, and asks for everything that no option gives. \
        The box gets its own key pair for the code. The command writes the secret into the file "secret" (mode 0600) \
        beside agent.conf, and the settings into agent.conf, where it keeps comments. It refuses folders and files \
        that other users may write. As root with systemd it enables the daemon's socket. At the end it prints what \
        doctor finds.

        The code itself is never sent, and only the service that created it can answer. If the command is interrupted, \
        run it again: the box gets the same key pair. Use --code - to hide the code from the list of processes.
        """,
      inputs: [code], example: "regent setup --code https://tv.example.org#7K3M-Q0ZD-4RXW-81HP"
    ) { call async throws in
      context.hearsNoSignals()
      let place = try place(call)
      let typed = try typed(call)
      let known = try call[AgentOptions.service].first ?? typed.service ?? known(place)
      let choice = try known.map { ServiceChoice($0) } ?? ServiceChoice(call)
      let authorities: CertificateAuthorities = call[AgentOptions.authorities].map { .file($0) } ?? .system
      let proxy = call[AgentOptions.proxy] ?? .environment
      let files = try BoxFiles(
        place, authorities: call[AgentOptions.authorities], proxy: call[AgentOptions.proxy],
        name: call[AgentOptions.name])
      let redemption = try CodeRedemption(typed.code, place: place)
      let grant: EnrolmentGrant
      do {
        grant = try await call.console.progress("asking \(choice.address), for \(CodeRedemption.patience) s at most") {
          try await redemption.redeem(at: choice.address, authorities, proxy, buildTime: context.buildTime)
        }
      } catch {
        files.giveUp()
        throw error
      }
      let service = try choice.kept(grant)
      let difference = try files.write(grant, service)
      files.release()
      try start(place, call)
      if !call.wantsJSON { call.console.print(lines: ["\(place):"] + difference.map { "  \($0)" }) }
      let findings = await DoctorChecks(call, context).shownFindings()
      let worst = findings.compactMap(\.exit).first
      call.show(
        [
          "config": .string(place), "requestor": .string(grant.requestor.text),
          "publicKey": .string(grant.publicKey.text), "service": .string(service.description),
          "doctor": .array(findings.map(\.document)),
        ],
        lines: findings.flatMap(\.lines) + [
          "this box is enrolled for \(grant.requestor); "
            + (worst == nil ? "to sign in, run regent pair" : "correct what is BAD, then run regent doctor")
        ])
      if let worst { throw QuietExit(worst) }
    }
  }

  /// Parses what the user typed: the enrolment code, and the service's URL if the input was `ADDRESS#CODE`.
  private static func typed(_ call: Invocation) throws(CommandError) -> (service: AbsoluteURL?, code: EnrolmentCode) {
    if let text = call[code] {
      guard text == "-" else { return try parts(of: text) }
      return try parts(of: String(decoding: try Prompt.password("enrolment code"), as: UTF8.self))
    }
    return try Prompt.answer("enrolment code", usual: nil, orGive: "--code", call) { text throws(CommandError) in
      try parts(of: text)
    }
  }

  private static func parts(of text: String) throws(CommandError) -> (service: AbsoluteURL?, code: EnrolmentCode) {
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    guard let letters = parts.last, let code = EnrolmentCode(typed: String(letters)) else {
      throw CommandError.usage(
        "this is not an enrolment code", hint: "it has 16 letters and digits, such as 7K3M-Q0ZD-4RXW-81HP")
    }
    guard parts.count == 2 else { return (nil, code) }
    guard let service = try? AbsoluteURL(parsing: String(parts[0]), acceptsZone: true) else {
      throw CommandError.usage(
        "the text before # is not a web address", hint: "use the form https://tv.example.org#CODE")
    }
    return (service, code)
  }

  /// The settings file to write: the one that `--config` names, the existing one, or the default of this user.
  private static func place(_ call: Invocation) throws(CommandError) -> String {
    if let path = call[AgentOptions.configuration] { return path }
    let environment = call.environment
    let places = DefaultServices.places { environment[$0] }
    if let there = places.first(where: isFile) {
      // Checked before the enrolment code is redeemed, because the code works only once. Otherwise it would be used up
      // for a key pair that cannot be saved.
      guard there != DefaultServices.machinePath || Accounts.effectiveUser == 0 else {
        throw CommandError(
          "this machine is already set up as a box, and only root may change it", hint: "run sudo regent setup")
      }
      return there
    }
    if Accounts.effectiveUser == 0 { return DefaultServices.machinePath }
    guard let own = places.first else {
      throw CommandError(
        "this user has no home directory for agent.conf", hint: "name the settings file: --config FILE")
    }
    return own
  }

  private static func known(_ place: String) throws(CommandError) -> AbsoluteURL? {
    guard isFile(place) else { return nil }
    return try AgentConf(path: place).values["service"]?.first.flatMap {
      try? AbsoluteURL(parsing: $0, acceptsZone: true)
    }
  }

  private static func start(_ place: String, _ call: Invocation) throws {
    guard place == DefaultServices.machinePath, Accounts.effectiveUser == 0 else { return }
    guard (try? PrivateDirectory.check("/run/systemd/system", widest: 0o7777)) == true else {
      return call.console.note("there is no systemd here; to start the daemon, run regent daemon")
    }
    _ = try ChildProgram.run("systemctl", ["enable", "--now", "regent.socket"])
    _ = try ChildProgram.run("systemctl", ["try-restart", "regent.service"])
  }
}
