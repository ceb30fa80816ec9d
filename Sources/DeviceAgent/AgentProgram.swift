public import CommandKit
import RegentCryptography
import RegentHTTPCodec
public import RegentPlatform

/// The command-line program `regent` of the box.
public enum AgentProgram {
  /// Builds the program with all its commands.
  ///
  /// - Parameters:
  ///   - version: the text that `--version` prints.
  ///   - buildTime: the build time in epoch milliseconds. A clock that shows an earlier time is wrong.
  ///   - processID: the process id, for messages to the service manager.
  ///   - held: the signals that are blocked since the start of the process, for `pair` and `daemon`.
  /// - Returns: the program, for `main` to run.
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

  /// The signals that `pair` and `daemon` handle themselves.
  ///
  /// For all other commands they keep their default effect.
  public static let heldSignals: [Signal] = [
    .terminate, .interrupt, .hangUp, .windowChanged, .user1,
  ]
}

/// The values that all commands of `regent` need.
struct AgentContext: Sendable {
  let version: String
  let buildTime: Int64
  let processID: Int32
  let held: HeldSignals

  /// Returns the daemon if one runs for this box, and otherwise the SDK.
  func source(_ settings: AgentSettings) async throws(CommandError) -> any EntitlementSource {
    if case .found(let daemon) = try await DaemonClient.find(settings) { return daemon }
    return try EnablerSource(settings, buildTime: buildTime)
  }

  /// Sends a request to the daemon or the service.
  ///
  /// On a terminal, a progress line appears after a second.
  func ask<Answer: Sendable>(
    _ call: Invocation, _ settings: AgentSettings,
    _ question: @escaping @Sendable (any EntitlementSource) async throws -> Answer
  ) async throws -> Answer {
    let service = settings.services.first.map(\.description) ?? "the service"
    return try await call.console.progress("asking \(service)") { try await question(try await source(settings)) }
  }

  /// Unblocks the signals that `pair` and `daemon` handle, so that they end this process.
  ///
  /// Every other command calls this.
  func hearsNoSignals() { held.letGoForExec() }
}

private func explain(_ error: any Error) -> CommandError? {
  // The commands already convert every expected error to a CommandError.
  error as? CommandError
}
