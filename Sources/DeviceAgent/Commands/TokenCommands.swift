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
  static let resource = Input.argument("RESOURCE", .text, "what is to be watched")
  static let data = Input.repeated(
    "data", .assignment, "what the service is told besides, as agreed with the provider: NAME=VALUE")

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
    "verify", "check the token with the service's published keys before it is printed")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "authorize", "print a media token for a resource",
      details: """
        With --verify the token is checked as a stream server would check it: what it says is told on standard error, \
        and with --json "verified" is true. A token that is not good is an error.
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
  /// One of them must have signed it.
  private static func check(
    _ grant: MediaGrant, _ settings: AgentSettings
  ) async throws(CommandError) -> MediaTokenContents {
    let requestor = try settings.neededRequestor()
    var refusal: MediaTokenCheck?
    for service in try settings.neededServices() {
      let base = service.description.trimmingSlashes
      let verifier = MediaTokenVerifier(keys: .url(base + Paths.keySet, authorities: settings.authorities))
      let checked = await verifier.verify(grant.token, requestor: requestor, resource: grant.resource)
      if checked.verdict == .valid, let contents = checked.contents { return contents }
      refusal = checked
    }
    throw CommandError(
      "the media token is not good: \(refusal?.explanation ?? MediaTokenVerdict.unknown.name)",
      hint: refusal?.verdict == .expired
        ? "check the clocks of this box and of the service: regent doctor"
        : "check that every --service is the one that was meant",
      code: "invalid-token")
  }
}

enum TokenCommand {
  private static let credentialProcess = Input.flag(
    "credential-process", "print the JSON of a credential process: Version, Token, Expiration")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "token", "print a media token, for programs that start another one to get theirs",
      details: "Programs that ask at the same time share one call when the daemon runs.",
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
    "PROGRAM", .text, "what to run with the token, and its arguments")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "exec", "run a program that reads a media token from descriptor 3",
      details: """
        The token is in no argument and no variable, where others could see it. REGENT_TOKEN_FD says the number of \
        the descriptor, REGENT_TOKEN_EXPIRES when the token ends, in epoch milliseconds. The program's exit code is the \
        exit code; as in a shell it is 127 when there is no such program, and 126 when it cannot be run.
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
/// If that fails, the exit code is the one that shells use.
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
  /// The JSON for programs that run a credential process.
  fileprivate var credentialProcessDocument: JSONValue {
    [
      "Version": 1, "Token": .string(token), "Resource": .string(resource),
      "Expiration": .string(CivilDate.text(epochMilliseconds: expires, fraction: false)),
    ]
  }
}
