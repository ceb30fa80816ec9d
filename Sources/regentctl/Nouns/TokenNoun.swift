import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The commands of `regentctl token`.
enum TokenNoun {
  static let command = Command(
    "token", "list and end the sign-ins of boxes; check a media token",
    commands: [
      verb(
        "list", "list sign-ins",
        details: """
          The state "refused" means that the service refuses the requests of this sign-in, for example because the \
          account is disabled; "token show" says why and since when.
          """,
        inputs: [optionalRequestor, requestor],
        rules: [.atMostOne([optionalRequestor, requestor])], example: "token list"
      ) {
        call, admin in
        call.show(
          list: try await DeviceNoun.allSignIns(
            call, admin, of: call[optionalRequestor] ?? call[requestor]), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("REQUESTOR"), Table.Column("VIEWER"),
            Table.Column("STATE"), Table.Column.id("DEVICE"), Table.Column("SOURCE"),
            Table.Column("EXPIRES", .time),
          ]
        ) {
          [
            $0.id.text, $0.requestor.text, shown($0.provider, $0.account), DeviceNoun.state(of: $0), $0.device,
            $0.source, shown($0.expires),
          ]
        }
      },
      verb("show", "show a sign-in", inputs: [id], example: "token show 4f2a9c01") { call, admin in
        let signIn = try await admin.signIn(call[id])
        call.show(signIn.json, lines: DeviceNoun.lines(of: signIn))
      },
      verb(
        "revoke", "end a sign-in and its permits", inputs: [id, yes],
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
        "verify", "check a media token from standard input", inputs: [wantedRequestor, resource],
        example: "token verify --requestor acme --resource sport-1 < token"
      ) { call, admin in
        let token = String(decoding: try Prompt.password("media token"), as: UTF8.self)
        if call[wantedRequestor] == nil {
          call.console.note(
            "regentctl: warning: without --requestor, tokens of every requestor are accepted; the next release "
              + "requires --requestor")
        }
        let verdict = try await admin.verify(
          TokenQuestion(token: token, requestor: call[wantedRequestor], resource: call[resource]))
        call.show(verdict.json, lines: lines(of: verdict))
        if !verdict.valid { throw QuietExit(.failed) }
      },
    ])

  private static let requestor = Input.option(
    "requestor", identifier("ID", Names.Requestor.self), "same as the argument REQUESTOR"
  ).completedByRequestors()
  private static let wantedRequestor = Input.option(
    "requestor", .text("ID"), "the requestor that the token must be for"
  ).completedByRequestors()
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Authentication.self), "the sign-in's id")
  private static let resource = Input.option(
    "resource", .text("R"), "the title that the token must be for (default: any)")

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

/// The commands of `regentctl temporary-pass`.
enum TemporaryPassNoun {
  static let command = Command(
    "temporary-pass", "time-limited passes to watch without an account",
    commands: [
      verb(
        "list", "list temporary passes in use or used up",
        details: """
          A pass starts with the first title that it opens. The service remembers used passes, so a box gets only one; \
          "regentctl temporary-pass reset" lets it start again.
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
        "reset", "forget used temporary passes, so that viewers can start new ones",
        inputs: [requestor, provider, device, identity, yes],
        rules: [.atMostOne([device, identity])],
        example: "temporary-pass reset acme free --device 3f9a0c21d4e5b687"
      ) { call, admin in
        if call[device] == nil, call[identity] == nil {
          try Prompt.confirm(
            "reset the passes of all boxes of \(call[requestor]) at \(call[provider])",
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
    "device", .text("ID"), "reset only this box's pass; the short id or the full device id")
  private static let identity = Input.option(
    "identity", .text("KEY"), "reset only the pass of this identity, as the app sends it")
  private static let optionalProvider = Input.optionalArgument(
    "PROVIDER", identifier("ID", Names.Provider.self), "the temporary provider's id; all if left out"
  ).completedByProviders { $0.temporaryPass != nil }

  private static func sentence(on reset: PassReset, _ begun: Int) -> String {
    let place = "\(reset.requestor) at \(reset.provider)"
    // The identity is not printed, because it may identify a person.
    let owner = reset.device.map { "device \($0)" } ?? reset.identity.map { _ in "that identity" }
    guard begun > 0 else {
      let who = owner.map { "\($0) has used no pass" } ?? "no box has used a pass"
      return "nothing to reset: \(who) of \(place)"
    }
    let passes = begun == 1 ? "the pass" : "\(begun) passes"
    guard let owner else { return "reset \(passes) of all boxes (\(place))" }
    return "reset \(passes) of \(owner) (\(place))"
  }

  private static func titles(_ pass: PassEntry) -> String {
    pass.titleLimit.map { "\(pass.titles) of \($0)" } ?? "-"
  }
}
