import Administration
import CommandKit
import RegentJSON
import RegentPairing
import RegentPlatform

/// The commands of `regentctl requestor`.
enum RequestorNoun {
  static let command = Command(
    "requestor", "app publishers and their apps",
    commands: [
      verb(
        "add", "add a requestor",
        details: """
          Adding the same requestor twice changes nothing. If it exists with other values, the command fails, prints \
          the difference and changes nothing.
          """,
        inputs: [newID, newName] + options,
        example: "requestor add acme --name \"Acme TV\" --domain tv.example.org"
      ) { call, admin in
        var patch = try patch(call)
        patch.set(.name, call[newName])
        call.show(try await admin.add(call[newID], patch), "requestor \(call[newID])")
      },
      verb(
        "set", "change a requestor",
        details: """
          Changes only the values that you give. A repeated option replaces the whole list. An empty value removes \
          the setting: --logo "".
          """,
        inputs: [id, name] + options, example: "requestor set acme --color '#0A7CFF'"
      ) { call, admin in
        var patch = try patch(call)
        patch.set(.name, call[name])
        call.show(try await admin.set(call[id], patch), "requestor \(call[id])")
      },
      verb("list", "list requestors", example: "requestor list") { call, admin in
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
          "remove requestor \(requestor.id) and sign out all its boxes", unless: yes, call)
        try await admin.remove(requestor.id)
        call.say("requestor \(requestor.id) removed", ["id": .string(requestor.id.text)])
      },
    ])

  /// The id of an existing requestor.
  static let id = Input.argument("ID", identifier("ID", Names.Requestor.self), "the requestor's id")
    .completedByRequestors()

  private static let newID = Input.argument(
    "ID", identifier("ID", Names.Requestor.self), "the requestor's id, as apps send it")
  private static let newName = Input.option(
    "name", text("TEXT", .name, mayBeEmpty: false), "the name that viewers see")
  private static let name = Input.option("name", text("TEXT", .name), "the name that viewers see")
  private static let domains = Input.repeated(
    "domain", text("HOST", .domains, isList: true),
    "a domain that browsers may be redirected to after sign-in, with its subdomains")
  private static let redirects = Input.repeated(
    "redirect-uri", text("URI", .redirectURIs, isList: true),
    "an exact address that browsers may be redirected to after sign-in")
  private static let logo = Input.option("logo", text("URL", .logo), "the address of the logo")
  private static let color = Input.option("color", text("HEX", .color), "the colour of the phone's pages, as #RRGGBB")
  private static let contact = Input.option(
    "contact", text("TEXT", .contact),
    "a phone number or address shown to viewers who cannot sign in")
  private static let certificate = Input.option(
    "certificate", ValueKind<String>.fileOrNone,
    "a certificate (PEM); viewers' attributes are encrypted for its key")
  private static let policy = Input.option(
    "signature-policy", .word(SignaturePolicy.self),
    "how strictly the signatures of calls are checked (default: standard)")
  private static let enhanced = Input.option(
    "enhanced-errors", .switched, "whether errors have enhanced error codes (default: off)")
  private static let matching = Input.option(
    "number-matching", .switched, "whether the viewer must pick a number shown on the box (default: off)")
  private static let deviceID = Input.option(
    "expose-device-id", .switched, "whether apps may read the device id (default: off)")
  private static let metadata = Input.repeated(
    "metadata", .wordOrNone(MetadataKey.self), "an attribute of the viewer that apps may read")

  private static let platform = Input.option(
    "platform", .switched, "whether all apps of a box may use the box's sign-in at this requestor (default: off)")

  private static let registration = Input.option(
    "registration", .word(ClientRegistration.self),
    "which programs may register themselves as OAuth clients (default: statement)")

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
        "--certificate: \(path) is not a PEM file", hint: "check it: openssl x509 -in \(shellQuoted(path))")
    }
    guard !text.contains("PRIVATE KEY") else {
      throw CommandError(
        "--certificate: \(path) contains a private key, which must not be sent",
        hint: "extract the certificate: openssl x509 -in \(shellQuoted(path)) -out certificate.pem")
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
