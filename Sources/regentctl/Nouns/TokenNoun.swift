import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// `regentctl token`.
enum TokenNoun {
  static let command = Command(
    "token", "sign-ins of boxes, and media tokens",
    commands: [
      verb(
        "list", "list the sign-ins", inputs: [optionalRequestor, requestor],
        rules: [.atMostOne([optionalRequestor, requestor])], example: "token list"
      ) {
        call, admin in
        call.show(
          list: try await DeviceNoun.allSignIns(
            call, admin, of: call[optionalRequestor] ?? call[requestor]), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("REQUESTOR"), Table.Column("VIEWER"),
            Table.Column.id("DEVICE"), Table.Column("SOURCE"),
            Table.Column("EXPIRES", .time),
          ]
        ) {
          [
            $0.id.text, $0.requestor.text, shown($0.provider, $0.account), $0.device, $0.source,
            shown($0.expires),
          ]
        }
      },
      verb("show", "show a sign-in", inputs: [id], example: "token show 4f2a9c01") { call, admin in
        let signIn = try await admin.signIn(call[id])
        call.show(signIn.json, lines: DeviceNoun.lines(of: signIn))
      },
      verb(
        "revoke", "end a sign-in with its permits", inputs: [id, yes],
        example: "token revoke 4f2a9c --yes"
      ) { call, admin in
        let found = try await admin.signIn(call[id])
        try Prompt.confirm(
          "sign out \(DeviceNoun.title(of: found)) at \(found.requestor)"
            + PlatformNoun.ending(with: [found], ", and with it "), unless: yes, call)
        let signIn = try await admin.revokeToken(found.id)
        call.show(
          signIn.json,
          lines: [
            "sign-in \(signIn.id) of \(shown(signIn.provider, signIn.account)) ended"
              + PlatformNoun.ending(with: [signIn], "; with it: ")
          ])
      },
      verb(
        "verify", "look at a media token from standard input", inputs: [wantedRequestor, resource],
        example: "token verify --requestor acme --resource sport-1 < token"
      ) { call, admin in
        let token = String(decoding: try Prompt.password("media token"), as: UTF8.self)
        if call[wantedRequestor] == nil {
          call.console.note(
            "regentctl: deprecated: without --requestor a token of any requestor is called good; the next release "
              + "requires it")
        }
        let verdict = try await admin.verify(
          TokenQuestion(token: token, requestor: call[wantedRequestor], resource: call[resource]))
        call.show(verdict.json, lines: lines(of: verdict))
        if !verdict.valid { throw QuietExit(.failed) }
      },
    ])

  private static let requestor = Input.option(
    "requestor", identifier("ID", Names.Requestor.self), "the same as REQUESTOR"
  ).completedByRequestors()
  private static let wantedRequestor = Input.option(
    "requestor", .text("ID"), "the requestor it has to be of, byte by byte"
  ).completedByRequestors()
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Authentication.self), "the sign-in's id")
  private static let resource = Input.option(
    "resource", .text("R"), "what it has to be for; by default anything")

  private static func lines(of verdict: TokenVerdict) -> [String] {
    details([
      "verdict": verdict.valid ? "good" : "bad: \(verdict.reason ?? "")",
      "key": verdict.keyID,
      "requestor": verdict.requestor,
      "provider": verdict.provider,
      "resource": verdict.resource,
      "issued": verdict.issued.map(shown),
      "expires": verdict.expires.map(shown),
    ])
  }
}

/// `regentctl temporary-pass`.
enum TemporaryPassNoun {
  static let command = Command(
    "temporary-pass", "what has been used of temporary passes",
    commands: [
      verb(
        "list", "list the passes that were begun",
        details: """
          A pass runs from the first title that was opened with it. Used passes are remembered, so that nobody gets a \
          second one; temporary-pass reset lets one begin anew.
          """,
        inputs: [optionalRequestor, optionalProvider], example: "temporary-pass list acme free"
      ) { call, admin in
        var passes: [PassEntry] = []
        try await admin.passes(of: call[optionalRequestor], at: call[optionalProvider]) {
          passes += $0
        }
        call.show(
          list: passes, id: nil,
          [
            Table.Column.id("DEVICE"), Table.Column("REQUESTOR"), Table.Column("PROVIDER"),
            Table.Column("IDENTITY"), Table.Column("STATE", .name), Table.Column("UNTIL", .time),
            Table.Column("TITLES", .number),
          ]
        ) {
          [
            $0.device, $0.requestor.text, $0.provider.text, $0.identified ? "yes" : "-",
            $0.state.rawValue, shown($0.until), titles($0),
          ]
        }
      },
      verb(
        "reset", "let temporary passes begin anew",
        inputs: [requestor, provider, device, identity, yes],
        rules: [.atMostOne([device, identity])],
        example: "temporary-pass reset acme free --device 3f9a0c21d4e5b687"
      ) { call, admin in
        if call[device] == nil, call[identity] == nil {
          try Prompt.confirm(
            "let everybody's pass of \(call[requestor]) at \(call[provider]) begin anew",
            unless: yes, call)
        }
        let reset = PassReset(
          requestor: call[requestor], provider: call[provider], device: call[device],
          identity: call[identity])
        let begun = try await admin.resetPass(reset).count
        var document = reset.object
        document["count"] = .integer(Int64(begun))
        call.say(sentence(on: reset, begun), document)
      },
    ])

  private static let requestor = Input.argument(
    "REQUESTOR", identifier("ID", Names.Requestor.self), "the requestor's id"
  ).completedByRequestors()
  private static let provider = Input.argument(
    "PROVIDER", identifier("ID", Names.Provider.self), "the temporary provider's id"
  ).completedByProviders { $0.temporaryPass != nil }
  private static let device = Input.option(
    "device", .text("ID"), "of one box only: its short id or its own")
  private static let identity = Input.option(
    "identity", .text("KEY"), "of one identity only, as the app sends it")
  private static let optionalProvider = Input.optionalArgument(
    "PROVIDER", identifier("ID", Names.Provider.self), "at one temporary provider only"
  ).completedByProviders { $0.temporaryPass != nil }

  private static func sentence(on reset: PassReset, _ begun: Int) -> String {
    let place = "\(reset.requestor) at \(reset.provider)"
    // The app's own key says who somebody is: it is not said again.
    let owner = reset.device.map { "device \($0)" } ?? reset.identity.map { _ in "that identity" }
    guard begun > 0 else {
      let who = owner.map { "\($0) has begun no pass" } ?? "nobody has begun a pass"
      return "nothing to reset: \(who) of \(place)"
    }
    let passes = begun == 1 ? "the pass" : "\(begun) passes"
    let verb = begun == 1 ? "begins" : "begin"
    guard let owner else { return "\(passes) of \(place) \(verb) anew: everybody's" }
    return "\(passes) of \(owner) \(verb) anew (\(place))"
  }

  private static func titles(_ pass: PassEntry) -> String {
    pass.titleLimit.map { "\(pass.titles) of \($0)" } ?? "-"
  }
}
