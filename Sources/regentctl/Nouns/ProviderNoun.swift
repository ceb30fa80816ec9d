import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// `regentctl provider`.
enum ProviderNoun {
  static let command = Command(
    "provider", "whom viewers sign in with",
    details: """
      A local provider has accounts with passwords here. A temporary one lets anybody in for a while, from the first \
      title on.
      """,
    commands: [
      verb(
        "add", "add a provider",
        details: """
          The same again changes nothing; when the provider is there with other values, nothing is changed and the \
          difference is shown.
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
        "set", "change what is named of a provider",
        details: "An empty word takes a value away: --logo \"\".",
        inputs: [id, name, kind] + common, example: "provider set cable --featured on"
      ) { call, admin in
        var patch = patch(call)
        patch.set(.name, call[name])
        patch.set(.kind, call[kind])
        call.show(try await admin.set(call[id], patch), "provider \(call[id])")
      },
      verb("list", "list the providers", example: "provider list") { call, admin in
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
          "remove provider \(provider.id), its accounts and everybody who signed in there",
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
    "name", text("TEXT", .name, mayBeEmpty: false), "what viewers read")
  private static let newKind = Input.required(
    "kind", .word(Provider.KindName.self), "how it signs viewers in")
  private static let name = Input.option("name", text("TEXT", .name), "what viewers read")
  private static let kind = Input.option(
    "kind", .word(Provider.KindName.self), "how it signs viewers in")

  private static let logo = Input.option("logo", text("URL", .logo), "where its logo is")
  private static let featured = Input.option(
    "featured", .switched, "whether pickers show it first")
  private static let boarding = Input.option(
    "boarding", .word(BoardingStatus.self), "its part in platform sign-on")
  private static let platformID = Input.option(
    "platform-id", text("ID", .platformID), "the platform's id for it")
  private static let secureSheet = Input.option(
    "secure-sheet", .switched, "whether its pages want a sheet that the app cannot look into")
  private static let passwordChange = Input.option(
    "password-change", .switched, "whether viewers may change their passwords on the phone; at first on")
  private static let lifetime = Input.option(
    "lifetime", .span, "how long a temporary pass lasts; 10m when nothing is said")
  private static let promotional = Input.flag(
    "promotional", "a temporary pass wants to know for whom it is")
  private static let resourceLimit = Input.option(
    "resource-limit", .number(1...100_000), "how many titles a temporary pass opens")

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

  /// What a local provider has no use for.
  private static func refusePass(_ call: Invocation) throws {
    let pass: [any InputDeclaration] = [lifetime, promotional, resourceLimit]
    guard let source = pass.compactMap(call.source).first else { return }
    throw CommandError.usage(
      "\(source) goes with --kind temporary only",
      hint: "leave it out, or add the provider with --kind temporary")
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
