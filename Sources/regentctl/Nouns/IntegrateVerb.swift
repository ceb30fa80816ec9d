import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The command `regentctl integrate`, which lets a requestor's apps sign in with a provider.
enum IntegrateVerb {
  static let command = verb(
    "integrate", "allow a requestor's apps to sign in with a provider",
    details: """
      Adds the integration, or changes the values that you give. A new integration is on unless you add --off. An \
      existing one is switched by --on or --off, and switched on if you give no option. With --profile, the lifetimes \
      and the limit apply to one application profile only.

      Run "regentctl integrate list [REQUESTOR]" to list integrations, and "regentctl integrate remove REQUESTOR \
      PROVIDER" to remove one.
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
        "unexpected argument: \"\(call[removed] ?? "")\"",
        hint: "run regentctl integrate REQUESTOR PROVIDER [options]")
    }
    if call[requestor] == "list" { return try await list(call, admin) }
    guard let typed = call[provider] else {
      throw CommandError.usage(
        "PROVIDER is missing", hint: "run regentctl integrate REQUESTOR PROVIDER [options]")
    }
    let pair = (requestor: try requestorID(call[requestor]), provider: try providerID(typed))
    let saved = try await admin.integrate(pair.requestor, pair.provider, try patch(call))
    call.show(saved, "integration of \(pair.requestor) with \(pair.provider)")
  }.withUsage([
    "integrate REQUESTOR PROVIDER [options]", "integrate list [REQUESTOR]",
    "integrate remove REQUESTOR PROVIDER [--yes]",
  ])

  // The words "list" and "remove" may stand in place of this argument, so requestors cannot have these ids.
  private static let requestor = Input.argument(
    "REQUESTOR", .text("ID"), "the requestor's id, or list, or remove"
  ).completedByRequestors(also: [
    Candidate("list", "list integrations"),
    Candidate("remove", "remove an integration"),
  ])
  private static let provider = Input.optionalArgument(
    "PROVIDER", .text("ID"),
    "the provider's id; after list or remove: the requestor's id"
  ).completed { request in
    let admin = Connection.admin(request)
    if Requestor.wordsOfVerbs.contains(request[requestor] ?? "") {
      return ((try? await admin.requestors()) ?? []).map { Candidate($0.id.text, $0.name) }
    }
    return ((try? await admin.providers()) ?? []).map { Candidate($0.id.text, $0.name) }
  }
  private static let removed = Input.optionalArgument(
    "REMOVED", .text("ID"), "after remove: the provider's id"
  ).completedByProviders()
  private static let on = Input.flag("on", "switch the integration on (default if no option is given)")
  private static let off = Input.flag("off", "switch the integration off")
  private static let singleSignOn = Input.option(
    "sso", .switched, "whether a box's TV provider account may sign in the apps (single sign-on)")
  private static let authentication = Input.option(
    "authentication-lifetime", .span, "how long a box stays signed in (default for a new one: 30d)")
  private static let authorization = Input.option(
    "authorization-lifetime", .span, "how long a permit for a title is valid (default for a new one: 24h)")
  private static let limit = Input.option(
    "preauthorize-limit", .number(1...1_000), "the most titles in one preauthorize call (default for a new one: 5)")
  private static let profile = Input.option(
    "profile", identifier("NAME", Names.Profile.self),
    "set the lifetimes and the limit for this application profile only")
  private static let degrade = Input.option(
    "degrade",
    .choice([
      ("authn-all", JSONValue.string("authn-all")), ("authz-all", "authz-all"),
      ("authz-none", "authz-none"), ("off", .null),
    ]),
    "what to allow or deny while the provider is out of order; off: normal operation")

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
          "--profile works only with the lifetimes and the limit",
          hint: "run a second command with --on, --off, --sso or --degrade")
      }
      guard !values.isEmpty else {
        throw CommandError.usage(
          "--profile \(profile) needs a value to set", hint: "add --authorization-lifetime 1h, for example")
      }
      patch.set(.profiles, .object([profile.text: .object(values)]))
      return patch
    }
    patch.set(.singleSignOn, call[singleSignOn])
    for member in values.members {
      if let name = Integration.Member(rawValue: member.name) { patch.set(name, member.value) }
    }
    patch.set(.degradation, call[degrade])
    // A command that changes only other values must not switch on an integration that is off.
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
        hint: "run regentctl integrate remove REQUESTOR PROVIDER")
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
        hint: "list the requestors: regentctl requestor list")
    }
    return id
  }

  private static func providerID(_ text: String) throws -> ProviderID {
    guard let id = ProviderID(text) else {
      throw CommandError.usage(
        "PROVIDER \"\(text)\" cannot be a provider's id",
        hint: "list the providers: regentctl provider list")
    }
    return id
  }
}
