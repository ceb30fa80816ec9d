import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The commands of `regentctl client`.
enum ClientNoun {
  static let command = Command(
    "client", "API clients (OAuth)",
    details: """
      A program that supports OAuth's device authorization grant signs in as a client of a requestor. Configure it \
      with the issuer and the client id; it discovers the rest. Use --public for programs that users install, because \
      a secret inside them is not secret. A client with a secret or keys may also introspect tokens, as an API does.
      """,
    commands: [
      verb(
        "add", "add a client and print its id and secret; the secret is shown only once",
        details: """
          --keys takes a file with the client's public keys (JSON Web Key Set). Access tokens are for this service \
          unless --audience names another API.
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
        if made.secret != nil, !call.wantsJSON { call.console.note("the secret is not shown again; store it now") }
      },
      verb("list", "list clients", inputs: [optionalRequestor], example: "client list acme") { call, admin in
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
        "set", "change a client; tokens already issued stay valid for up to an hour",
        inputs: [id, name, algorithm, scope, audience],
        rules: [.someOf([name, algorithm, scope, audience])], example: "client set 4f2a9c01 --scope openid"
      ) { call, admin in
        var members: JSONObject = [:]
        members["name"] = call[name].map(JSONValue.string)
        let client = try await admin.setClient(call[id], settings(call, members))
        call.show(client.json, lines: lines(of: client))
      },
      verb(
        "remove", "remove a client and sign out every device that paired with it", inputs: [id, yes],
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

  /// Reads a key set from a file; the service validates the keys.
  private static func keySet(_ path: String) throws -> JSONValue {
    let bytes = try readSmallFile(path, for: "--keys")
    guard let value = try? JSONValue(reading: bytes), value.object != nil else {
      throw CommandError("--keys: \(path) is not a JSON Web Key Set", hint: "the file must look like {\"keys\":[…]}")
    }
    return value
  }

  static let id = Input.argument("CLIENT", identifier("CLIENT", Names.Client.self), "the client's id")
    .completed(from: { admin throws(AdminError) in try await admin.clients() }) { Candidate($0.id.text, $0.name) }
  private static let requestor = Input.argument(
    "REQUESTOR", identifier("ID", Names.Requestor.self), "the requestor's id"
  ).completedByRequestors()
  private static let newName = Input.required("name", .text("TEXT"), "the name shown on the phone")
  private static let name = Input.option("name", .text("TEXT"), "the name shown on the phone")
  private static let isPublic = Input.flag("public", "create a client without a secret")
  private static let hasSecret = Input.flag("secret", "create a client with a secret")
  private static let keys = Input.option("keys", .file, "a file with the public keys that the client signs with")
  private static let algorithm = Input.option(
    "algorithm", .text("NAME"), "the algorithm that signs its tokens: RS256, ES256 or EdDSA (default: RS256)")
  private static let scope = Input.option(
    "scope", .text("NAMES"), "the scopes it may request (default: 'openid profile offline_access entitlements')")
  private static let audience = Input.option(
    "audience", .text("URL"), "the API that its access tokens are for (default: this service; \"\" resets it)")
}

/// The commands of `regentctl grant`.
enum GrantNoun {
  static let command = Command(
    "grant", "OAuth grants, one for each device that paired with a client",
    details: """
      A grant is paused while its account or integration is disabled. It works again when they are enabled. The tokens \
      of a bound grant (DPoP) can only be used with the client's key.
      """,
    commands: [
      verb("list", "list grants", inputs: [client], example: "grant list") {
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
        "revoke", "revoke a grant and end its sign-in", inputs: [id], example: "grant revoke 4f2a9c01"
      ) { call, admin in
        let ended = try await admin.revokeGrant(call[id])
        call.show(ended.json, lines: ["grant \(call[id]) revoked, \(counted(ended.count, "sign-in")) ended"])
      },
    ])

  private static let client = Input.optionalArgument(
    "CLIENT", identifier("CLIENT", Names.Client.self), "the client's id; all clients if left out"
  ).completed(from: { admin throws(AdminError) in try await admin.clients() }) { Candidate($0.id.text, $0.name) }
  private static let id = Input.argument("GRANT", identifier("GRANT", Names.Grant.self), "the grant's id")
    .completed(from: { admin throws(AdminError) in try await admin.grants() }) { Candidate($0.id.text, $0.scope) }
}
