import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// The output format of `regent oauth token`.
enum OAuthFormat: String, CaseIterable, Sendable {
  case raw, header, git
}

/// `regent oauth token NAME`: prints a valid token, from the daemon if it runs.
enum OAuthTokenCommand {
  private static let format = Input.option(
    "format", ValueKind<OAuthFormat>.cases, default: .raw,
    "raw: only the token; header: lines for curl -H @-; git: an answer to git on standard input")
  private static let method = Input.option(
    "method", .text("METHOD"), default: "GET", "the method of the call, for the proof of a bound token")
  private static let url = Input.option(
    "url", .webAddress, "the address of the call; with --format git: the only server that gets the token")
  private static let nonce = Input.option("nonce", .text("N"), "the server's nonce for the proof (DPoP-Nonce)")
  private static let operation = Input.optionalArgument(
    "OPERATION", .choice("get", "store", "erase"), "the operation, which git adds: get, store or erase")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "token", "print an access token that is valid for at least a minute",
      details: """
        Renews the token first if necessary. A token bound to the box's key (DPoP) needs a proof for each call; \
        --format header with --url prints both. With --json the members are name, token, type, expires, scope, and \
        proof with --url. For git:

        git config credential.https://git.example.org.helper '!regent oauth token work --format git --url \
        https://git.example.org'
        """,
      inputs: [OAuthCommand.name, operation, format, method, url, nonce], example: "regent oauth token music"
    ) { call async throws in
      context.hearsNoSignals()
      let settings = try AgentSettings(call)
      switch call[format] {
      case .raw:
        let grant = try await grant(call, settings, context)
        call.show(grant.document, lines: [grant.token])
      case .header:
        let grant = try await grant(call, settings, context)
        guard !grant.isBound || grant.proof != nil else {
          throw CommandError.usage(
            "this token is bound to the box's key, and each call needs a proof",
            hint: "add --url https://… and --method for the call, or add the server again with --no-dpop")
        }
        call.show(
          grant.document,
          lines: ["Authorization: \(grant.isBound ? "DPoP" : "Bearer") \(grant.token)"]
            + (grant.proof.map { ["DPoP: \($0)"] } ?? []))
      case .git: try await answerGit(call, settings, context)
      }
    }
  }

  private static func grant(
    _ call: Invocation, _ settings: AgentSettings, _ context: AgentContext, refused: String? = nil
  ) async throws(CommandError) -> OAuthGrant {
    let question = OAuthQuestion(name: call[OAuthCommand.name], refused: refused)
    let proof = call[url].map {
      OAuthProofOrder(method: call[method], url: $0.description, nonce: call[nonce])
    }
    if case .found(let daemon) = try await DaemonClient.find(settings) {
      return try await daemon.token(question, for: proof)
    }
    return try await OAuthTokenSource(state: settings.state, buildTime: context.buildTime).token(question, for: proof)
  }

  private static func answerGit(_ call: Invocation, _ settings: AgentSettings, _ context: AgentContext) async throws {
    guard let place = call[url] else {
      throw CommandError.usage(
        "--format git needs --url, because git asks for every server and only one may get this token",
        hint: "add --url https://git.example.org")
    }
    let asked = GitCredential(try StandardStreams.input(limit: GitCredential.limit))
    // git asks for credentials of another server. Without output, it asks its next helper.
    guard asked.isFor(place), call[operation] != "store" else { return }
    guard call[operation] == "erase" else {
      let grant = try await grant(call, settings, context)
      guard !grant.isBound else {
        throw CommandError(
          "this token is bound to the box's key, which git does not support",
          hint: "add the server again with --no-dpop")
      }
      return call.console.print(lines: asked.lines(grant))
    }
    // With `erase`, git says that the server refused the token, so a new one is fetched.
    guard let password = asked.password else { return }
    _ = try await grant(call, settings, context, refused: password)
  }
}
