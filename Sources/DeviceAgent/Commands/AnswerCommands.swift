import AccessEnabler
import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

// Commands that send one request and print the response.

enum StatusCommand {
  private static let deviceID = Input.flag(
    "device-id", "print only this box's device id, for your own calls to the service")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "status", "show whether this box is signed in",
      details: """
        The exit code is 3 if the box is not signed in. Without a network it prints the last known state. Only root, \
        the daemon's user and users with the permission "header" in agent.conf can read the device id.
        """,
      inputs: [deviceID], example: "regent status"
    ) { call async throws in
      context.hearsNoSignals()
      let settings = try AgentSettings(call)
      let status = try await context.ask(call, settings) { try await $0.status() }
      if call[deviceID] {
        guard let id = status.deviceID else {
          throw CommandError(
            "this user may not read the device id: the permission \"header\" is missing",
            hint: "add the word \"header\" to the user's line in /etc/regent/agent.conf: "
              + "allow = user:NAME status header; then run systemctl restart regent",
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
    } else if status.isAccountDisabled {
      lines += [EntitlementError.accountDisabled.description, "  hint: \(accountDisabledHint)"]
    } else {
      lines.append("not signed in; to sign in, run regent pair")
    }
    if let requestor = status.requestor { lines.append("requestor \(requestor)") }
    lines.append(status.isFromDaemon ? "answered by the daemon" : "answered without the daemon")
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
  private static let resources = Input.arguments("RESOURCE", .text, "a title or channel")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "preauthorize", "print which of the given titles the viewer may watch",
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
    "KEY", .text, "the attribute: zip, userID, householdID, maxRating or channelID, for example")

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
          "the service gives this app no \"\(call[key])\" of the viewer: it is not set, or the app may not read it",
          hint:
            "ask the service's operator to let the apps of \(settings.requestor ?? "the requestor") read \(call[key]), "
            + "and to set it in the viewer's account",
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
      "logout", "sign this box out", example: "regent logout"
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
          "signed out on this box; the service is not reachable, and will be told by the next command or the daemon"
        }
      var document: JSONObject = ["signedIn": false]
      for member in end.members.members { document[member.name] = member.value }
      call.show(.object(document), lines: [line])
    }
  }
}

enum HeaderCommand {
  private static let method = Input.argument("METHOD", .text, "GET, POST or DELETE")
  private static let path = Input.argument("PATH", .text, "the path or the full address of the call")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "header", "print a signed Authorization header for a call to the service",
      details: """
        Each header is valid for one call within five minutes. The call must contain the device id:

        id=$(regent status --device-id) url=https://tv.example.org/api/v1/tokens/authn

        regent header GET $url | curl -H @- "$url?requestor=SPORT&deviceId=$id"

        With a daemon, users other than root need permissions in agent.conf. The permission "header" is enough for \
        calls about the sign-in's state and the list of providers. Calls for titles also need "token=*", calls for \
        lists of titles "preauthorize", for attributes "metadata", and for codes "pair". There are no headers for \
        sign-outs and for the box's TV provider account.
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
