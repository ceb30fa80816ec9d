import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// `regentctl client`.
enum ClientNoun {
  static let command = Command(
    "client", "programs that pair in OAuth's words",
    details: """
      Any program that speaks OAuth's device grant pairs with the service as one of a requestor's clients: it is told \
      the issuer and its client id, and finds out the rest. A public client has no secret, because everybody may have \
      a copy of it; one with a secret or with keys may also ask what tokens are worth (introspection), as an API does.
      """,
    commands: [
      verb(
        "add", "add a client; its secret, if it has one, is shown this once",
        details: """
          --keys names a file with its public keys (a JSON Web Key set). The tokens are for the service itself unless \
          --audience says for which API they are.
          """,
        inputs: [requestor, newName, isPublic, hasSecret, keys, algorithm, scope, audience],
        rules: [.oneOf([isPublic, hasSecret, keys])],
        example: "client add acme --name 'Acme for Kodi' --public"
      ) { call, admin in
        var members: JSONObject = ["name": .string(call[newName])]
        members["kind"] = .string(
          (call[isPublic] ? ClientKind.public : call[hasSecret] ? .secret : .keys).rawValue)
        if let path = call[keys] { members["jwks"] = try keySet(path) }
        let made = try await admin.addClient(to: call[requestor], settings(call, members))
        call.show(
          made.json, lines: details(["client id": made.id.text, "secret": made.secret, "issuer": made.issuer]))
        if made.secret != nil, !call.wantsJSON { call.console.note("the secret is not shown again: keep it now") }
      },
      verb("list", "list the clients", inputs: [optionalRequestor], example: "client list acme") { call, admin in
        if let requestor = call[optionalRequestor] { _ = try await admin.requestor(requestor) }
        call.show(
          list: try await admin.clients(of: call[optionalRequestor]).inOrder(of: \.created), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("REQUESTOR"), Table.Column("NAME"), Table.Column("KIND", .name),
            Table.Column("ADDED BY"), Table.Column("SCOPE"), Table.Column("CREATED", .time),
          ]
        ) {
          [
            $0.id.text, $0.requestor.text, $0.name, $0.kind.rawValue, $0.origin, $0.scope, shown($0.created),
          ]
        }
      },
      verb("show", "show a client, without its secret", inputs: [id], example: "client show 4f2a9c01") {
        call, admin in
        let client = try await admin.client(call[id])
        call.show(client.json, lines: lines(of: client))
      },
      verb(
        "set", "change what a client may have; tokens that it has are good for an hour at most",
        inputs: [id, name, algorithm, scope, audience],
        rules: [.someOf([name, algorithm, scope, audience])], example: "client set 4f2a9c01 --scope openid"
      ) { call, admin in
        var members: JSONObject = [:]
        members["name"] = call[name].map(JSONValue.string)
        let client = try await admin.setClient(call[id], settings(call, members))
        call.show(client.json, lines: lines(of: client))
      },
      verb(
        "remove", "remove a client, and sign out every device that paired with it", inputs: [id, yes],
        example: "client remove 4f2a9c01 --yes"
      ) { call, admin in
        let found = try await admin.client(call[id])
        try Prompt.confirm(
          "remove client \(found.id) (\(found.name)) and sign out every device that paired with it", unless: yes, call)
        let ended = try await admin.removeClient(found.id)
        call.show(ended.json, lines: ["client \(found.id) removed, \(counted(ended.count, "sign-in")) ended"])
      },
    ] + ClientInvitations.commands)

  private static func settings(_ call: Invocation, _ members: JSONObject) -> JSONObject {
    var members = members
    members["algorithm"] = call[algorithm].map(JSONValue.string)
    members["scope"] = call[scope].map(JSONValue.string)
    members["audience"] = call[audience].map(JSONValue.string)
    return members
  }

  private static func lines(of client: ClientEntry) -> [String] {
    details([
      "id": client.id.text, "requestor": client.requestor.text, "name": client.name, "kind": client.kind.rawValue,
      "added by": client.origin, "algorithm": client.algorithm, "scope": client.scope, "audience": client.audience,
      "created": shown(client.created),
    ])
  }

  /// The key set in a file; the service looks at what is in it.
  private static func keySet(_ path: String) throws -> JSONValue {
    let bytes = try readSmallFile(path, for: "--keys")
    guard let value = try? JSONValue(reading: bytes), value.object != nil else {
      throw CommandError("--keys: \(path) is no JSON Web Key set", hint: "it looks like this: {\"keys\":[…]}")
    }
    return value
  }

  static let id = Input.argument("CLIENT", identifier("CLIENT", Names.Client.self), "the client's id")
    .completed(from: { admin throws(AdminError) in try await admin.clients() }) { Candidate($0.id.text, $0.name) }
  private static let requestor = Input.argument(
    "REQUESTOR", identifier("ID", Names.Requestor.self), "the requestor's id"
  ).completedByRequestors()
  private static let newName = Input.required("name", .text("TEXT"), "what the phone's page calls it")
  private static let name = Input.option("name", .text("TEXT"), "what the phone's page calls it")
  private static let isPublic = Input.flag("public", "it has no secret")
  private static let hasSecret = Input.flag("secret", "a secret is made for it")
  private static let keys = Input.option("keys", .file, "it signs with a key of its own; the public ones are in FILE")
  private static let algorithm = Input.option(
    "algorithm", .text("NAME"), "what its tokens are signed with: RS256 (the usual), ES256 or EdDSA")
  private static let scope = Input.option(
    "scope", .text("NAMES"), "what it may have, all of it unless said: 'openid profile offline_access entitlements'")
  private static let audience = Input.option(
    "audience", .text("URL"), "for which API its access tokens are; an empty word means this service")
}

/// `regentctl grant`.
enum GrantNoun {
  static let command = Command(
    "grant", "what clients were given, one for each device that paired",
    details: """
      A grant whose account or integration is switched off is paused: it opens nothing, and is good again when they are \
      on. One that is bound is worth nothing without a key of its client's (DPoP).
      """,
    commands: [
      verb("list", "list the grants of a client, or of all", inputs: [client], example: "grant list") {
        call, admin in
        var found: ClientID?
        if let client = call[client] { found = try await admin.client(client).id }
        call.show(
          list: try await admin.grants(of: found).inOrder(of: \.created), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column.id("CLIENT"), Table.Column("NAME"), Table.Column("VIEWER"),
            Table.Column("STATE", .name), Table.Column("SCOPE"), Table.Column("DPOP", .name),
            Table.Column("LAST REFRESH", .time), Table.Column("EXPIRES", .time),
          ]
        ) {
          [
            $0.id.text, $0.client.text, $0.name ?? "-", $0.viewer ?? "-", $0.state, $0.scope,
            $0.bound ? "bound" : "-", shown($0.used), shown($0.expires),
          ]
        }
      },
      verb(
        "revoke", "end a grant, and the sign-in that it stands on", inputs: [id], example: "grant revoke 4f2a9c01"
      ) { call, admin in
        let ended = try await admin.revokeGrant(call[id])
        call.show(ended.json, lines: ["grant \(call[id]) revoked, \(counted(ended.count, "sign-in")) ended"])
      },
    ])

  private static let client = Input.optionalArgument(
    "CLIENT", identifier("CLIENT", Names.Client.self), "of one client only"
  ).completed(from: { admin throws(AdminError) in try await admin.clients() }) { Candidate($0.id.text, $0.name) }
  private static let id = Input.argument("GRANT", identifier("GRANT", Names.Grant.self), "the grant's id")
    .completed(from: { admin throws(AdminError) in try await admin.grants() }) { Candidate($0.id.text, $0.scope) }
}
