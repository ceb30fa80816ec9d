import Administration
import CommandKit
import RegentPairing

/// The commands of `regentctl key`.
enum KeyNoun {
  static let command = Command(
    "key", "key pairs that sign the calls of a requestor's apps",
    details: """
      A key pair has a public key, which is also its id, and a secret. Apps and boxes sign their calls to the service \
      with a pair that has the purpose "calls". The service signs its own database rows with a pair that has the \
      purpose "rows"; its secret never leaves the service. Commands accept the first characters of the public key.
      """,
    commands: [
      verb(
        "issue", "create a key pair; the secret is shown only once", inputs: [requestor],
        example: "key issue acme"
      ) { call, admin in
        let key = try await admin.issueKey(to: call[requestor])
        call.show(
          key.json, lines: details(["public key": key.publicKey.text, "secret": key.secret]))
        if !call.wantsJSON { call.console.note("the secret is not shown again; store it now") }
      },
      verb(
        "list", "list key pairs", inputs: [optionalRequestor],
        example: "key list acme"
      ) { call, admin in
        let one = call[optionalRequestor]
        var all: [KeyPairEntry] = []
        for id in try await admin.requestors(one) {
          all += try await admin.keys(of: id)
        }
        call.show(
          list: all, id: \.publicKey.text,
          (one == nil ? [Table.Column("REQUESTOR", .name)] : []) + [
            Table.Column.id("PUBLIC KEY"), Table.Column("PURPOSE"),
            Table.Column("STATE", .name), Table.Column("CREATED", .time),
            Table.Column("LAST USED", .time),
          ]
        ) { key in
          (one == nil ? [key.requestor.text] : []) + [
            key.publicKey.text, key.purpose, key.state, shown(key.created), shown(key.lastUsed),
          ]
        }
      },
      verb("show", "show a key pair, without its secret", inputs: [shownKey], example: "key show 0a1B2c3D") {
        call, admin in
        let key = try await admin.key(call[shownKey])
        call.show(
          key.json(under: key.publicKey.text),
          lines: details([
            "public key": key.publicKey.text, "requestor": key.requestor.text,
            "purpose": key.purpose, "state": key.state, "created": shown(key.created),
            "last used": key.lastUsed.map(shown),
          ]))
      },
      verb(
        "retire", "replace a key pair by a newer one; calls signed with it still work",
        details: """
          No box is signed out, and calls signed with the key are still accepted. Its sign-ins pass to key pairs that \
          were issued later, so retire a key before its boxes get a new one. Retiring a pair with purpose rows creates \
          its successor.
          """,
        inputs: [retired], example: "key retire 0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P"
      ) { call, admin in
        let key = try await admin.retireKey(call[retired])
        call.show(key.json, lines: ["key \(key.publicKey) \(key.state)"])
      },
      verb(
        "revoke", "refuse all calls signed with a key pair, at once",
        details: """
          Boxes stay signed in, but their apps need another key before they can call again. Use --rows if the \
          service's own keys may have leaked: it also signs out every box of the requestor.
          """,
        inputs: [revoked, rows, yes],
        example: "key revoke 0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P --yes"
      ) { call, admin in
        // The key is looked up first, so that the question is about an existing key. The same key is then revoked, even
        // if the typed prefix matches another key by then.
        let found = try await admin.key(call[revoked])
        let what = "revoke key \(found.publicKey) of \(found.requestor)"
        try Prompt.confirm(
          call[rows]
            ? "\(what) and sign out every box of that requestor"
            : "\(what); apps without another key can no longer call the service",
          unless: yes, call)
        let key = try await admin.revokeKey(found.publicKey, rows: call[rows])
        call.show(key.json, lines: ["key \(key.publicKey) \(key.state)"])
      },
    ])

  private static let requestor = Input.argument(
    "REQUESTOR", identifier("ID", Names.Requestor.self), "the requestor's id"
  ).completedByRequestors()
  private static let shownKey = Input.argument(
    "PUBLICKEY", identifier("KEY", Names.PublicKey.self), "the key pair's id"
  ).completedByKeys(in: ["active", "retired", "revoked"])
  private static let retired = Input.argument(
    "PUBLICKEY", identifier("KEY", Names.PublicKey.self), "the key pair's id"
  ).completedByKeys(in: ["active"])
  private static let revoked = Input.argument(
    "PUBLICKEY", identifier("KEY", Names.PublicKey.self), "the key pair's id"
  ).completedByKeys(in: ["active", "retired"])
  private static let rows = Input.flag("rows", "also sign out every box of the requestor")
}

/// The commands of `regentctl statement`.
enum StatementNoun {
  static let command = Command(
    "statement", "software statements: signed texts with which apps register",
    commands: [
      verb(
        "issue", "create a software statement for an application", inputs: [requestor, application],
        example: "statement issue acme --application \"Acme for TV\""
      ) { call, admin in
        let issued = try await admin.issueStatement(
          to: call[requestor], application: call[application])
        call.show(issued.json, lines: [issued.softwareStatement])
        if !call.wantsJSON {
          call.console.note("statement \(issued.id): put the text above into the app")
        }
      },
      verb(
        "list", "list software statements", inputs: [optionalRequestor],
        example: "statement list acme"
      ) { call, admin in
        call.show(
          list: try await admin.statements().of(call[optionalRequestor], admin, \.requestor), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("REQUESTOR"),
            Table.Column("APPLICATION"), Table.Column("ISSUED", .time),
            Table.Column("STATE", .name),
          ]
        ) {
          [
            $0.id.text, $0.requestor.text, $0.application, shown($0.issued),
            $0.revoked ? "revoked" : "active",
          ]
        }
      },
      verb("show", "show a statement", inputs: [id], example: "statement show 4f2a9c01") { call, admin in
        let statement = try await admin.statement(call[id])
        call.show(
          statement.json,
          lines: details([
            "id": statement.id.text, "requestor": statement.requestor.text,
            "application": statement.application, "issued": shown(statement.issued),
            "state": statement.revoked ? "revoked" : "active",
          ]))
      },
      verb(
        "revoke", "revoke a statement and every installation that registered with it", inputs: [id, yes],
        example: "statement revoke 4f2a --yes"
      ) { call, admin in
        let found = try await admin.statement(call[id])
        try Prompt.confirm(
          "revoke statement \(found.id) of \(found.application) and every installation that registered with it",
          unless: yes, call)
        let statement = try await admin.revokeStatement(found.id)
        call.show(statement.json, lines: ["statement \(statement.id) revoked"])
      },
    ])

  private static let requestor = Input.argument(
    "REQUESTOR", identifier("ID", Names.Requestor.self), "the requestor's id"
  ).completedByRequestors()
  private static let application = Input.required(
    "application", .text("NAME"), "the application's name")
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Statement.self), "the statement's id"
  ).completed(from: { admin throws(AdminError) in try await admin.statements() }) {
    Candidate($0.id.text, $0.application)
  }
}
