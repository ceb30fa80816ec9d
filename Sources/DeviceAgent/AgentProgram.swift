public import CommandKit
import RegentCryptography
import RegentHTTPCodec
public import RegentPlatform

/// `regent`, the program of the box, as a value: settings come in, commands come out.
public enum AgentProgram {
  /// The program.
  ///
  /// - Parameters:
  ///   - version: as `--version` prints it.
  ///   - buildTime: when it was built, in epoch milliseconds: no clock that is right says less.
  ///   - processID: this process, for the service manager's messages.
  ///   - held: signals that were held back since the start of the process, for `pair` and `daemon`.
  /// - Returns: what `main` runs.
  public static func program(version: String, buildTime: Int64, processID: Int32, held: HeldSignals)
    -> Program
  {
    Random.serveOpenSSL()
    let context = AgentContext(
      version: version, buildTime: buildTime, processID: processID, held: held)
    return Program(
      name: "regent", version: version, summary: "sign this box in with a phone",
      details: """
        The box shows a short code and a QR code. The viewer opens it on a phone and signs in there. Local programs \
        can then get short-lived media tokens for titles. Start with "regent setup" and "regent pair"; "regent \
        doctor" finds problems.
        """,
      options: AgentOptions.all, rules: AgentOptions.rules, environmentPrefix: "REGENT_",
      offersJSON: true,
      commands: [
        CommandOffer("setup", SetupCommand.command(context)),
        CommandOffer("pair", PairCommand.command(context)),
        CommandOffer("status", StatusCommand.command(context)),
        CommandOffer("providers", ProvidersCommand.command(context)),
        CommandOffer("preauthorize", PreauthorizeCommand.command(context)),
        CommandOffer("authorize", AuthorizeCommand.command(context)),
        CommandOffer("token", TokenCommand.command(context)),
        CommandOffer("header", HeaderCommand.command(context)),
        CommandOffer("exec", ExecCommand.command(context)),
        CommandOffer("metadata", MetadataCommand.command(context)),
        CommandOffer("sso", SsoCommand.command(context)),
        CommandOffer("oauth", OAuthCommand.command(context)),
        CommandOffer("logout", LogoutCommand.command(context)),
        CommandOffer("daemon", DaemonCommand.command(context)),
        CommandOffer("qr", QRCommand.command(context)),
        CommandOffer("doctor", DoctorCommand.command(context)),
      ],
      exitCodes: ExitCode.agentMeanings, seeAlso: ["regentd(8)", "regentctl(8)"],
      explain: explain)
  }

  /// The signals that `pair` and `daemon` hear instead of being ended by them.
  public static let heldSignals: [Signal] = [
    .terminate, .interrupt, .hangUp, .windowChanged, .user1,
  ]
}

/// What all commands share.
struct AgentContext: Sendable {
  let version: String
  let buildTime: Int64
  let processID: Int32
  let held: HeldSignals

  /// The daemon when it runs for this box, else the SDK.
  func source(_ settings: AgentSettings) async throws(CommandError) -> any EntitlementSource {
    if case .found(let daemon) = try await DaemonClient.find(settings) { return daemon }
    return try EnablerSource(settings, buildTime: buildTime)
  }

  /// Asks the service, or the daemon; who sits at a terminal is told after a second what is waited for.
  func ask<Answer: Sendable>(
    _ call: Invocation, _ settings: AgentSettings,
    _ question: @escaping @Sendable (any EntitlementSource) async throws -> Answer
  ) async throws -> Answer {
    let service = settings.services.first.map(\.description) ?? "the service"
    return try await call.console.progress("asking \(service)") { try await question(try await source(settings)) }
  }

  /// Lets signals end this process again: only `pair` and `daemon` hear them.
  func hearsNoSignals() { held.letGoForExec() }
}

private func explain(_ error: any Error) -> CommandError? {
  // Everything that the commands know is a CommandError already.
  error as? CommandError
}
