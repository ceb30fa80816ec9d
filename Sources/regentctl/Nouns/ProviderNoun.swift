import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The commands of `regentctl provider`.
enum ProviderNoun {
  static let command = Command(
    "provider", "directories that hold viewers' accounts",
    details: """
      A local provider has accounts with passwords in this service. A temporary provider admits any viewer without a \
      password, for a limited time that starts with the first title (a temporary pass).
      """,
    commands: [
      verb(
        "add", "add a provider",
        details: """
          Adding the same provider twice changes nothing. If it exists with other values, the command fails, prints \
          the difference and changes nothing.
          """,
        inputs: [newID, newName, newKind] + common,
        example: "provider add cable --name \"Cable TV\" --kind local"
      ) { call, admin in
        var patch = patch(call)
        patch.set(.name, call[newName])
        patch.set(.kind, call[newKind])
        if call[newKind] == .string(Provider.KindName.local.rawValue) { try refusePass(call) }
        call.show(try await admin.add(call[newID], patch), "provider \(call[newID])")
      },
      verb(
        "set", "change a provider",
        details: "Changes only the values that you give. An empty value removes the setting: --logo \"\".",
        inputs: [id, name, kind] + common, example: "provider set cable --featured on"
      ) { call, admin in
        var patch = patch(call)
        patch.set(.name, call[name])
        patch.set(.kind, call[kind])
        call.show(try await admin.set(call[id], patch), "provider \(call[id])")
      },
      verb("list", "list providers", example: "provider list") { call, admin in
        call.show(
          list: try await admin.providers(), id: \.id.text,
          [
            Table.Column("ID", .name), Table.Column("NAME"), Table.Column("KIND"),
            Table.Column("FEATURED"),
          ]
        ) { [$0.id.text, $0.name, kindText($0), shown($0.featured)] }
      },
      verb("show", "show a provider", inputs: [id], example: "provider show cable") {
        call, admin in
        let provider = try await admin.provider(call[id])
        call.show(provider.json, lines: lines(of: provider))
      },
      verb(
        "remove", "remove a provider with its accounts, rules, integrations and sign-ins",
        inputs: [id, yes], example: "provider remove cable --yes"
      ) { call, admin in
        let provider = try await admin.provider(call[id])
        try Prompt.confirm(
          "remove provider \(provider.id) with its accounts, and sign out every box that signed in there",
          unless: yes, call)
        try await admin.remove(provider.id)
        call.say("provider \(provider.id) removed", ["id": .string(provider.id.text)])
      },
    ])

  private static let newID = Input.argument(
    "ID", identifier("ID", Names.Provider.self), "the provider's id, as apps read it")
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Provider.self), "the provider's id"
  ).completedByProviders()
  private static let newName = Input.required(
    "name", text("TEXT", .name, mayBeEmpty: false), "the name that viewers see")
  private static let newKind = Input.required(
    "kind", .word(Provider.KindName.self), "local: accounts with passwords here; temporary: passes for a limited time")
  private static let name = Input.option("name", text("TEXT", .name), "the name that viewers see")
  private static let kind = Input.option(
    "kind", .word(Provider.KindName.self), "local: accounts with passwords here; temporary: passes for a limited time")

  private static let logo = Input.option("logo", text("URL", .logo), "the address of the logo")
  private static let featured = Input.option(
    "featured", .switched, "whether lists of providers show it first (default: off)")
  private static let boarding = Input.option(
    "boarding", .word(BoardingStatus.self),
    "for a box's shared account: none, listed only (picker), or usable by all apps (supported) (default: none)")
  private static let platformID = Input.option(
    "platform-id", text("ID", .platformID), "the provider's id in a box's single sign-on")
  private static let secureSheet = Input.option(
    "secure-sheet", .switched, "whether apps must show its pages in a sheet that they cannot read (default: off)")
  private static let passwordChange = Input.option(
    "password-change", .switched, "whether viewers may change their passwords on the phone (default: on)")
  private static let lifetime = Input.option(
    "lifetime", .span, "how long a temporary pass lasts (default: 10m)")
  private static let promotional = Input.flag(
    "promotional", "give temporary passes only to apps that send the viewer's identity")
  private static let resourceLimit = Input.option(
    "resource-limit", .number(1...100_000), "the number of titles that a temporary pass opens (default: any number)")

  private static let common: [any InputDeclaration] = [
    logo, featured, boarding, platformID, secureSheet, passwordChange, lifetime, promotional, resourceLimit,
  ]

  private static func text(
    _ placeholder: String, _ member: Provider.Member, mayBeEmpty: Bool = true
  ) -> ValueKind<JSONValue> {
    .member(
      placeholder, of: Provider.self, member, mayBeEmpty: mayBeEmpty,
      ["id": "x", "kind": "local"])
  }

  private static func patch(_ call: Invocation) -> Patch<Provider> {
    var patch = Patch<Provider>()
    patch.set(.logo, call[logo])
    patch.set(.featured, call[featured])
    patch.set(.boarding, call[boarding])
    patch.set(.platformID, call[platformID])
    patch.set(.secureSheet, call[secureSheet])
    patch.set(.passwordChange, call[passwordChange])
    patch.set(.lifetime, call[lifetime])
    if call[promotional] { patch.set(.promotional, true) }
    patch.set(.resourceLimit, call[resourceLimit])
    return patch
  }

  /// Rejects options of temporary passes for a local provider.
  private static func refusePass(_ call: Invocation) throws {
    let pass: [any InputDeclaration] = [lifetime, promotional, resourceLimit]
    guard let source = pass.compactMap(call.source).first else { return }
    throw CommandError.usage(
      "\(source) works only with --kind temporary",
      hint: "remove the option, or add the provider with --kind temporary")
  }

  private static func kindText(_ provider: Provider) -> String {
    switch provider.kind {
    case .local: "local"
    case .temporary(let rules): "temporary \(shownDuration(rules.duration))"
    }
  }

  private static func lines(of provider: Provider) -> [String] {
    let rules = provider.temporaryPass
    return details([
      "id": provider.id.text,
      "name": provider.name,
      "kind": provider.kindName.rawValue,
      "lifetime": rules.map { shownDuration($0.duration) },
      "promotional": rules.map { shown($0.promotional) },
      "resource limit": rules?.resourceLimit.map(String.init),
      "logo": provider.logo,
      "featured": shown(provider.featured),
      "boarding": provider.boarding.rawValue,
      "platform id": provider.platformID,
      "secure sheet": shown(provider.secureSheet),
      "password": provider.mayChangePasswords.map { "change \(shown($0))" },
    ])
  }
}
