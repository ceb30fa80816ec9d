import Administration
import CommandKit
import RegentJSON
import RegentPairing
import RegentPlatform

/// `regentctl requestor`.
enum RequestorNoun {
  static let command = Command(
    "requestor", "whose apps run on the boxes",
    commands: [
      verb(
        "add", "add a requestor",
        details: """
          The same again changes nothing; when the requestor is there with other values, nothing is changed and the \
          difference is shown.
          """,
        inputs: [newID, newName] + options,
        example: "requestor add acme --name \"Acme TV\" --domain tv.example.org"
      ) { call, admin in
        var patch = try patch(call)
        patch.set(.name, call[newName])
        call.show(try await admin.add(call[newID], patch), "requestor \(call[newID])")
      },
      verb(
        "set", "change what is named of a requestor",
        details: """
          A repeated option replaces the whole list. An empty word takes a value away: --logo "".
          """,
        inputs: [id, name] + options, example: "requestor set acme --color '#0A7CFF'"
      ) { call, admin in
        var patch = try patch(call)
        patch.set(.name, call[name])
        call.show(try await admin.set(call[id], patch), "requestor \(call[id])")
      },
      verb("list", "list the requestors", example: "requestor list") { call, admin in
        call.show(
          list: try await admin.requestors(), id: \.id.text,
          [Table.Column("ID", .name), Table.Column("NAME"), Table.Column("DOMAINS")]
        ) { [$0.id.text, $0.name, shown($0.domains)] }
      },
      verb("show", "show a requestor", inputs: [id], example: "requestor show acme") {
        call, admin in
        let requestor = try await admin.requestor(call[id])
        call.show(requestor.json, lines: lines(of: requestor))
      },
      InvitationNoun.invite,
      verb(
        "remove", "remove a requestor with its keys, integrations, applications and sign-ins",
        inputs: [id, yes], example: "requestor remove acme --yes"
      ) { call, admin in
        let requestor = try await admin.requestor(call[id])
        try Prompt.confirm(
          "remove requestor \(requestor.id) and sign out every device of it", unless: yes, call)
        try await admin.remove(requestor.id)
        call.say("requestor \(requestor.id) removed", ["id": .string(requestor.id.text)])
      },
    ])

  /// A requestor that is there.
  static let id = Input.argument("ID", identifier("ID", Names.Requestor.self), "the requestor's id")
    .completedByRequestors()

  private static let newID = Input.argument(
    "ID", identifier("ID", Names.Requestor.self), "the requestor's id, as apps send it")
  private static let newName = Input.option(
    "name", text("TEXT", .name, mayBeEmpty: false), "what viewers read")
  private static let name = Input.option("name", text("TEXT", .name), "what viewers read")
  private static let domains = Input.repeated(
    "domain", text("HOST", .domains, isList: true), "a domain that its pages may live on")
  private static let redirects = Input.repeated(
    "redirect-uri", text("URI", .redirectURIs, isList: true),
    "an exact address that a browser may be sent back to")
  private static let logo = Input.option("logo", text("URL", .logo), "where its logo is")
  private static let color = Input.option("color", text("HEX", .color), "its colour, as #RRGGBB")
  private static let contact = Input.option(
    "contact", text("TEXT", .contact),
    "whom viewers ask who cannot sign in: a phone number, an address")
  private static let certificate = Input.option(
    "certificate", ValueKind<String>.fileOrNone,
    "a PEM file with the certificate that viewers' attributes are encrypted for")
  private static let policy = Input.option(
    "signature-policy", .word(SignaturePolicy.self), "how strictly signed calls are checked")
  private static let enhanced = Input.option(
    "enhanced-errors", .switched, "whether errors come with enhanced codes")
  private static let matching = Input.option(
    "number-matching", .switched, "whether the box shows a number to pick on the phone")
  private static let deviceID = Input.option(
    "expose-device-id", .switched, "whether apps may read the device id")
  private static let metadata = Input.repeated(
    "metadata", .wordOrNone(MetadataKey.self), "an attribute of viewers that it may be given")

  private static let platform = Input.option(
    "platform", .switched, "whether it is the box maker's: its sign-in on a box is there for the box's apps")

  private static let registration = Input.option(
    "registration", .word(ClientRegistration.self), "which programs may register themselves as its clients of OAuth")

  private static let options: [any InputDeclaration] = [
    domains, redirects, logo, color, contact, certificate, policy, enhanced, matching, deviceID,
    metadata, platform, registration,
  ]

  private static func text(
    _ placeholder: String, _ member: Requestor.Member, isList: Bool = false,
    mayBeEmpty: Bool = true
  ) -> ValueKind<JSONValue> {
    .member(
      placeholder, of: Requestor.self, member, isList: isList, mayBeEmpty: mayBeEmpty,
      ["id": "x"])
  }

  private static func patch(_ call: Invocation) throws -> Patch<Requestor> {
    var patch = Patch<Requestor>()
    patch.set(.domains, list: call[domains])
    patch.set(.redirectURIs, list: call[redirects])
    patch.set(.logo, call[logo])
    patch.set(.color, call[color])
    patch.set(.contact, call[contact])
    if let path = call[certificate] {
      patch.set(.certificate, path.isEmpty ? .null : .string(try pemText(path)))
    }
    patch.set(.signaturePolicy, call[policy])
    patch.set(.enhancedErrors, call[enhanced])
    patch.set(.numberMatching, call[matching])
    patch.set(.exposesDeviceID, call[deviceID])
    patch.set(.metadata, list: call[metadata])
    patch.set(.isPlatform, call[platform])
    patch.set(.registration, call[registration])
    return patch
  }

  private static func pemText(_ path: String) throws -> String {
    let bytes = try readSmallFile(path, for: "--certificate")
    guard let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") else {
      throw CommandError(
        "--certificate: \(path) is not a PEM file", hint: "look at it: openssl x509 -in \(shellQuoted(path))")
    }
    guard !text.contains("PRIVATE KEY") else {
      throw CommandError(
        "--certificate: \(path) holds a private key, which must stay where it is",
        hint: "write the certificate alone: openssl x509 -in \(shellQuoted(path)) -out certificate.pem")
    }
    return text
  }

  private static func lines(of requestor: Requestor) -> [String] {
    details([
      "id": requestor.id.text,
      "name": requestor.name,
      "domains": shown(requestor.domains),
      "redirect URIs": shown(requestor.redirectURIs),
      "logo": requestor.logo,
      "color": requestor.color,
      "contact": requestor.contact,
      "certificate": requestor.certificate.map { "\($0.utf8.count) bytes of PEM" },
      "signature policy": requestor.signaturePolicy.rawValue,
      "enhanced errors": shown(requestor.enhancedErrors),
      "number matching": shown(requestor.numberMatching),
      "expose device id": shown(requestor.exposesDeviceID),
      "metadata": shown(requestor.metadataKeys.map(\.rawValue).sorted()),
      "platform": shown(requestor.isPlatform),
      "registration": requestor.registration.rawValue,
    ])
  }
}
