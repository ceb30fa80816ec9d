import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

// Commands that send one request and print the response.

enum StatusCommand {
  private static let deviceID = Input.flag(
    "device-id", "print this box's id at the service and nothing else, for calls of one's own")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "status", "say whether and how this box is signed in",
      details: """
        Ends with 3 when nobody is signed in. Without network it says what is known here. The device id is for root, the \
        daemon's own user and users that agent.conf allows header.
        """,
      inputs: [deviceID], example: "regent status"
    ) { call async throws in
      context.hearsNoSignals()
      let settings = try AgentSettings(call)
      let status = try await context.ask(call, settings) { try await $0.status() }
      if call[deviceID] {
        guard let id = status.deviceID else {
          throw CommandError(
            "the daemon gives this user no device id",
            hint: "add header to the user's line in agent.conf: allow = user:NAME status header",
            code: "not-allowed")
        }
        return call.show(["deviceId": .string(id)], lines: [id])
      }
      call.show(status.document, lines: lines(status))
      if status.signIn == nil { throw QuietExit(.notSignedIn) }
    }
  }

  private static func lines(_ status: AgentStatus) -> [String] {
    var lines: [String] = []
    if let signIn = status.signIn {
      lines.append("signed in with \(signIn.providerName)")
      lines.append("user \(signIn.user)")
      lines.append("until \(CivilDate.text(epochMilliseconds: signIn.expires, fraction: false))")
      if signIn.source != "regular" { lines.append("by \(signIn.source)") }
    } else {
      lines.append("nobody is signed in; regent pair signs in")
    }
    if let requestor = status.requestor { lines.append("requestor \(requestor)") }
    lines.append(status.isFromDaemon ? "said by the daemon" : "said without the daemon")
    return lines
  }
}

enum ProvidersCommand {
  static func command(_ context: AgentContext) -> Command {
    Command("providers", "list the TV providers", example: "regent providers") {
      call async throws in
      context.hearsNoSignals()
      let providers = try await context.ask(call, AgentSettings(call)) { try await $0.providers() }
      var table = Table([.init("ID", .name), .init("NAME"), .init("FEATURED")])
      for provider in providers {
        table.add([provider.id, provider.name, provider.isFeatured ? "yes" : ""])
      }
      call.show(.array(providers.map(\.document)), as: table)
    }
  }
}

enum PreauthorizeCommand {
  private static let resources = Input.arguments("RESOURCE", .text, "what may be watched")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "preauthorize", "say which of these may be watched, for decorating lists",
      inputs: [resources], example: "regent preauthorize channel-1 channel-2"
    ) { call async throws in
      context.hearsNoSignals()
      let wanted = call[resources]
      let allowed = try await context.ask(call, AgentSettings(call)) { try await $0.preauthorize(wanted) }
      call.show(.array(allowed.map { .string($0) }), lines: allowed)
    }
  }
}

enum MetadataCommand {
  private static let key = Input.argument(
    "KEY", .text, "such as zip, userID, householdID, maxRating, channelID")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "metadata", "print an attribute of the viewer", inputs: [key], example: "regent metadata zip"
    ) { call async throws in
      context.hearsNoSignals()
      let settings = try AgentSettings(call)
      let wanted = call[key]
      let value = try await context.ask(call, settings) { try await $0.metadata(wanted) }
      if value.isNull {
        throw CommandError(
          "the service tells no \(call[key]) of this viewer",
          hint:
            "ask whoever runs the service to let the apps of \(settings.requestor ?? "the requestor") have "
            + "\(call[key]), and to give it to the viewer's account",
          code: "not-found")
      }
      call.show(value, lines: shown(value))
    }
  }

  private static func shown(_ value: JSONValue) -> [String] {
    if let text = value.string { return [text] }
    if let list = value.array { return list.map { $0.string ?? $0.description } }
    if let object = value.object {
      return object.members.map { "\($0.name) \($0.value.string ?? $0.value.description)" }
    }
    return [value.description]
  }
}

enum LogoutCommand {
  static func command(_ context: AgentContext) -> Command {
    Command(
      "logout", "sign this box out, here and at the service", example: "regent logout"
    ) { call async throws in
      context.hearsNoSignals()
      var settings = try AgentSettings(call)
      settings.waitsBriefly = true
      let end = try await context.ask(call, settings) { try await $0.signOut() }
      let line =
        switch end {
        case .wasNotSignedIn: "this box was not signed in"
        case .told: "signed out"
        case .untold:
          "signed out on this box; the service does not answer, and the next `regent` command or the daemon tells it"
        }
      var document: JSONObject = ["signedIn": false]
      for member in end.members.members { document[member.name] = member.value }
      call.show(.object(document), lines: [line])
    }
  }
}

enum HeaderCommand {
  private static let method = Input.argument("METHOD", .text, "GET, POST or DELETE")
  private static let path = Input.argument("PATH", .text, "the path of the call, or its address")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "header", "print a signed header, for curl -H @-",
      details: """
        Each header is good for one call within five minutes. The call itself must say which box it is about:

        id=$(regent status --device-id) url=https://tv.example.org/api/v1/tokens/authn

        regent header GET $url | curl -H @- "$url?requestor=SPORT&deviceId=$id"

        With a daemon, users other than root get headers for the calls that agent.conf allows them: header alone is for \
        the sign-in's state and the provider list; calls for titles need token=* as well, those for lists preauthorize, \
        for attributes metadata, for codes pair. No permission gives headers for sign-outs and the platform account.
        """,
      inputs: [method, path], example: "regent header GET /api/v1/tokens/authn"
    ) { call async throws in
      context.hearsNoSignals()
      let header = try await context.source(AgentSettings(call))
        .header(method: call[method], path: call[path])
      call.show(["authorization": .string(header)], lines: ["Authorization: \(header)"])
    }
  }
}
