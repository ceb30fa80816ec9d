import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// `regentctl integrate`.
enum IntegrateVerb {
  static let command = verb(
    "integrate", "let a requestor's apps sign in with a provider",
    details: """
      Adds the integration, or changes what is named of it. A new one is on, unless --off is given. One that is there is \
      switched by --on and --off, and on without any option; other options leave it as it is. With --profile the \
      lifetimes and the limit are those of one application profile, and the others stay as the integration says.

      regentctl integrate list REQUESTOR lists a requestor's integrations, regentctl integrate list those of all. regentctl \
      integrate remove REQUESTOR PROVIDER takes one away.
      """,
    inputs: [
      requestor, provider, removed, on, off, singleSignOn, authentication, authorization, limit,
      profile, degrade, yes,
    ],
    rules: [.atMostOne([on, off])],
    example: "integrate acme cable --authentication-lifetime 30d --preauthorize-limit 5"
  ) { call, admin in
    if call[requestor] == "remove" { return try await remove(call, admin) }
    guard call[removed] == nil else {
      throw CommandError.usage(
        "there is a word too much: \"\(call[removed] ?? "")\"",
        hint: "write regentctl integrate REQUESTOR PROVIDER [options]")
    }
    if call[requestor] == "list" { return try await list(call, admin) }
    guard let typed = call[provider] else {
      throw CommandError.usage(
        "PROVIDER is missing", hint: "write regentctl integrate REQUESTOR PROVIDER [options]")
    }
    let pair = (requestor: try requestorID(call[requestor]), provider: try providerID(typed))
    let saved = try await admin.integrate(pair.requestor, pair.provider, try patch(call))
    call.show(saved, "integration of \(pair.requestor) with \(pair.provider)")
  }

  // Also two verbs, which is why no requestor can be called so.
  private static let requestor = Input.argument(
    "REQUESTOR", .text("ID"), "the requestor's id, or list, or remove"
  ).completedByRequestors(also: [
    Candidate("list", "list integrations"),
    Candidate("remove", "take an integration away"),
  ])
  private static let provider = Input.optionalArgument(
    "PROVIDER", .text("ID"),
    "the provider's id; behind list and remove the requestor's, which list can do without"
  ).completed { request in
    let admin = Connection.admin(request)
    if Requestor.wordsOfVerbs.contains(request[requestor] ?? "") {
      return ((try? await admin.requestors()) ?? []).map { Candidate($0.id.text, $0.name) }
    }
    return ((try? await admin.providers()) ?? []).map { Candidate($0.id.text, $0.name) }
  }
  private static let removed = Input.optionalArgument(
    "REMOVED", .text("ID"), "behind remove the provider's id"
  ).completedByProviders()
  private static let on = Input.flag("on", "switch the integration on; so does no option at all")
  private static let off = Input.flag("off", "switch the integration off")
  private static let singleSignOn = Input.option(
    "sso", .switched, "whether a sign-in may be shared through the platform's account")
  private static let authentication = Input.option(
    "authentication-lifetime", .span, "how long a device stays signed in; at first 30d")
  private static let authorization = Input.option(
    "authorization-lifetime", .span, "how long a permit lasts; at first 24h")
  private static let limit = Input.option(
    "preauthorize-limit", .number(1...1_000), "titles in one preauthorization; at first 5")
  private static let profile = Input.option(
    "profile", identifier("NAME", Names.Profile.self),
    "set lifetimes and limit for this application profile only")
  private static let degrade = Input.option(
    "degrade",
    .choice([
      ("authn-all", JSONValue.string("authn-all")), ("authz-all", "authz-all"),
      ("authz-none", "authz-none"), ("off", .null),
    ]),
    "what is let through, or stopped, while the provider is out of order")

  private static func patch(_ call: Invocation) throws -> Patch<Integration> {
    var values = JSONObject()
    let given: [(Integration.Member, JSONValue?)] = [
      (.authenticationLifetime, call[authentication]),
      (.authorizationLifetime, call[authorization]),
      (.preauthorizationLimit, call[limit]),
    ]
    for (member, value) in given where value != nil { values[member.rawValue] = value }
    var patch = Patch<Integration>()
    if let profile = call[profile] {
      guard !call[on], !call[off], call[singleSignOn] == nil, call[degrade] == nil else {
        throw CommandError.usage(
          "--profile takes lifetimes and the limit only",
          hint: "give --on, --off, --sso and --degrade in a command of their own")
      }
      guard !values.isEmpty else {
        throw CommandError.usage(
          "--profile \(profile) has nothing to set", hint: "add --authorization-lifetime 1h")
      }
      patch.set(.profiles, .object([profile.text: .object(values)]))
      return patch
    }
    patch.set(.singleSignOn, call[singleSignOn])
    for member in values.members {
      if let name = Integration.Member(rawValue: member.name) { patch.set(name, member.value) }
    }
    patch.set(.degradation, call[degrade])
    // Whoever changes something else of an integration that is off has not said that it shall be on.
    if call[on] || call[off] || patch.members.isEmpty { patch.set(.enabled, .bool(!call[off])) }
    return patch
  }

  private static func list(_ call: Invocation, _ admin: AdminClient) async throws {
    let one = try call[provider].map(requestorID)
    var all: [Integration] = []
    for id in try await admin.requestors(one) {
      all += try await admin.integrations(of: id)
    }
    call.show(
      list: all, id: nil,
      (one == nil ? [Table.Column("REQUESTOR", .name)] : []) + [
        Table.Column("PROVIDER", .name), Table.Column("STATE"), Table.Column("SSO"),
        Table.Column("SIGNED IN", .number), Table.Column("PERMIT", .number),
        Table.Column("TITLES", .number), Table.Column("DEGRADE"), Table.Column("PROFILES"),
      ]
    ) { integration in
      (one == nil ? [integration.requestor.text] : []) + [
        integration.provider.text, shown(integration.enabled), shown(integration.singleSignOn),
        shownDuration(integration.settings.authenticationLifetime),
        shownDuration(integration.settings.authorizationLifetime),
        String(integration.settings.preauthorizationLimit),
        integration.degradation?.rawValue ?? "off",
        shown(integration.profiles.keys.map(\.text).sorted()),
      ]
    }
  }

  private static func remove(_ call: Invocation, _ admin: AdminClient) async throws {
    guard let first = call[provider], let last = call[removed] else {
      throw CommandError.usage(
        "integrate remove needs a requestor and a provider",
        hint: "write regentctl integrate remove REQUESTOR PROVIDER")
    }
    let (requestor, provider) = (try requestorID(first), try providerID(last))
    let what = "integration of \(requestor) with \(provider)"
    try Prompt.confirm("remove the \(what)", unless: yes, call)
    try await admin.removeIntegration(requestor, provider)
    call.say(
      "\(what) removed",
      ["requestor": .string(requestor.text), "provider": .string(provider.text)])
  }

  private static func requestorID(_ text: String) throws -> RequestorID {
    guard let id = RequestorID(text) else {
      throw CommandError.usage(
        "REQUESTOR \"\(text)\" cannot be a requestor's id",
        hint: "regentctl requestor list shows those there are")
    }
    return id
  }

  private static func providerID(_ text: String) throws -> ProviderID {
    guard let id = ProviderID(text) else {
      throw CommandError.usage(
        "PROVIDER \"\(text)\" cannot be a provider's id",
        hint: "regentctl provider list shows those there are")
    }
    return id
  }
}
