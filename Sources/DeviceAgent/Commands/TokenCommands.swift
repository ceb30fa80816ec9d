import CommandKit
import RegentHTTPCodec
import RegentJSON
import MediaTokenVerifier
import RegentPairing
import RegentPairingWire
import RegentPlatform

// Commands that get a media token, to print it or to run a program with it.

/// The inputs of every command that gets a media token.
private enum Asked {
  static let resource = Input.argument("RESOURCE", .text, "the title or channel to watch")
  static let data = Input.repeated(
    "data", .assignment, "additional data for the provider, as agreed with it")

  static func grant(_ call: Invocation, _ context: AgentContext, _ settings: AgentSettings)
    async throws -> MediaGrant
  {
    let data = Dictionary(call[data].map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let wanted = call[resource]
    return try await context.ask(call, settings) { try await $0.authorize(wanted, data: data) }
  }
}

enum AuthorizeCommand {

  private static let verify = Input.flag(
    "verify", "check the token with the service's published keys first")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "authorize", "print a media token for a resource",
      details: """
        --verify checks the token as a stream server does, and prints its content on standard error; with --json, \
        "verified" is true. The command fails if the token is not valid.
        """,
      inputs: [Asked.resource, verify, Asked.data], example: "regent authorize channel-1 --verify"
    ) { call async throws in
      context.hearsNoSignals()
      let settings = try AgentSettings(call)
      let grant = try await Asked.grant(call, context, settings)
      guard call[verify] else { return call.show(grant.document, lines: [grant.token]) }
      let contents = try await check(grant, settings)
      if !call.wantsJSON {
        let end = CivilDate.text(epochMilliseconds: contents.expires.milliseconds, fraction: false)
        call.console.note(
          "regent: verified: signed with key \(contents.keyID), for \(contents.resourceID), good until "
            + end)
      }
      var document = grant.document.object ?? JSONObject()
      document["verified"] = true
      call.show(.object(document), lines: [grant.token])
    }
  }
}

extension AuthorizeCommand {
  /// Checks a token with the published keys of each configured service.
  ///
  /// One of the services must have signed the token.
  private static func check(
    _ grant: MediaGrant, _ settings: AgentSettings
  ) async throws(CommandError) -> MediaTokenContents {
    let requestor = try settings.neededRequestor()
    var refusal: MediaTokenCheck?
    for service in try settings.neededServices() {
      let base = service.description.trimmingSlashes
      let verifier = MediaTokenVerifier(
        keys: .url(base + Paths.keySet, authorities: settings.authorities, proxy: settings.proxy))
      let checked = await verifier.verify(grant.token, requestor: requestor, resource: grant.resource)
      if checked.verdict == .valid, let contents = checked.contents { return contents }
      refusal = checked
    }
    throw CommandError(
      "the media token is not valid: \(refusal?.explanation ?? MediaTokenVerdict.unknown.name)",
      hint: refusal?.verdict == .expired
        ? "the clocks of this box and of the service probably differ: run regent doctor"
        : "check the address of every --service",
      code: "invalid-token")
  }
}

enum TokenCommand {
  private static let credentialProcess = Input.flag(
    "credential-process", "print JSON as a credential process does: Version, Token, Expiration")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "token", "print a media token, for programs that run a command to get it",
      details: "With the daemon, programs that ask at the same time share one call to the service.",
      inputs: [Asked.resource, credentialProcess, Asked.data], example: "regent token channel-1"
    ) { call async throws in
      context.hearsNoSignals()
      let grant = try await Asked.grant(call, context, AgentSettings(call))
      if call[credentialProcess] {
        call.console.print(json: grant.credentialProcessDocument)
      } else {
        call.show(grant.document, lines: [grant.token])
      }
    }
  }
}

enum ExecCommand {
  private static let program = Input.arguments(
    "PROGRAM", .text, "the program to run, and its arguments")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "exec", "run a program and pass it a media token on descriptor 3",
      details: """
        Other users cannot see the token, because it is neither an argument nor a variable. REGENT_TOKEN_FD is the \
        number of the descriptor, REGENT_TOKEN_EXPIRES the end of the token in epoch milliseconds. The exit code is \
        the program's; 127 means that the program was not found, 126 that it cannot be run.
        """,
      inputs: [Asked.resource, Asked.data, program],
      example: "regent exec channel-1 -- sh -c 'curl -d @/dev/fd/3 https://stream.example.org'"
    ) { call async throws in
      context.hearsNoSignals()
      let words = call[program]
      let grant = try await Asked.grant(call, context, AgentSettings(call))
      try becoming(call) { () throws(SystemError) in
        try ProgramReplacement.run(
          words[0], Array(words.dropFirst()),
          variables: [
            "REGENT_TOKEN_FD": String(ProgramReplacement.descriptor),
            "REGENT_TOKEN_EXPIRES": String(grant.expires),
          ], secret: Array(grant.token.utf8), held: context.held)
      }
    }
  }
}

/// Replaces this process by another program.
///
/// If the program cannot be started, the exit code is the one that shells use.
func becoming(_ call: Invocation, _ run: () throws(SystemError) -> Void) throws(CommandError) {
  call.console.flush()
  do throws(SystemError) {
    try run()
  } catch {
    throw CommandError(
      error.description, hint: error.hint, exit: error.isAboutAbsence ? .noSuchProgram : .cannotRun)
  }
}

extension MediaGrant {
  /// The token as JSON, for programs that run a command to get their credentials (a credential process).
  fileprivate var credentialProcessDocument: JSONValue {
    [
      "Version": 1, "Token": .string(token), "Resource": .string(resource),
      "Expiration": .string(CivilDate.text(epochMilliseconds: expires, fraction: false)),
    ]
  }
}
