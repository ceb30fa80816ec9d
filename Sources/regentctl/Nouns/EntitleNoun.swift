import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The commands of `regentctl entitle`.
enum EntitleNoun {
  static let command = Command(
    "entitle", "rules about which titles the viewers of a provider may watch",
    details: """
      Of the rules that match a title, the one whose pattern has the most characters besides * decides. If several \
      have the same number, a pattern without * decides; then a rule for an account, for a household, for everybody, \
      in this order. If two are still equal, deny wins. A title that no rule matches is denied, unless it is a channel that the account was \
      given with "regentctl account add --channel".
      """,
    commands: [
      verb(
        "add", "add a rule",
        details: "In a pattern, * matches any text. Upper and lower case are the same.",
        inputs: [provider, allow, deny, account, household, message],
        rules: [
          .oneOf([allow, deny]), .atMostOne([account, household]), .atMostOne([allow, message]),
        ],
        example: "entitle add cable --allow 'sport-*' --household smith"
      ) { call, admin in
        let scope: EntitlementScope =
          call[account].map(EntitlementScope.account) ?? call[household].map(
            EntitlementScope.household)
          ?? .everybody
        guard let pattern = call[allow] ?? call[deny] else { return }
        let saved = try await admin.add(
          EntitlementRequest(
            provider: call[provider], scope: scope, pattern: pattern,
            effect: call[allow] == nil ? .deny(message: call[message]) : .allow))
        call.show(saved, "rule \(saved.record.id)")
        if let household = call[household], !call.wantsJSON {
          let filled = Set(try await admin.accounts(of: call[provider]).compactMap(\.household))
          if !filled.contains(household) {
            EmptyHousehold.note(household, at: call[provider], among: filled, rule: saved.record.id, call.console)
          }
        }
      },
      verb(
        "list", "list rules, and the channels that accounts have", inputs: [optionalProvider],
        example: "entitle list cable"
      ) { call, admin in
        let one = call[optionalProvider]
        var all: [Row] = []
        for id in try await admin.providers(one) {
          all += try await admin.entitlements(of: id).map(Row.init)
          all += try await admin.channels(of: id).map(Row.init)
        }
        call.show(
          list: all, json: \.json,
          (one == nil ? [Table.Column("PROVIDER", .name)] : []) + [
            Table.Column.id("ID"), Table.Column("RULE"), Table.Column("PATTERN"),
            Table.Column("FOR"), Table.Column("MESSAGE"),
          ]
        ) { row in (one == nil ? row.cells : Array(row.cells.dropFirst())) }
      },
      verb("show", "show a rule", inputs: [id], example: "entitle show 4f2a9c01") { call, admin in
        let rule = try await admin.entitlement(call[id])
        call.show(
          rule.json(under: rule.id.text),
          lines: details([
            "id": rule.id.text, "provider": rule.provider.text, "rule": effect(rule),
            "pattern": rule.pattern.text, "for": scope(rule), "message": messageText(rule),
          ]))
      },
      verb(
        "test", "say whether an account may watch a title, and which rule or channel decides",
        details: """
          The title is tested as if a box of the account requested it. For one box, regentctl why checks also its \
          sign-in and key pair. The exit code is 1 if the account may not watch the title.
          """,
        inputs: [testedAccount, title, atProvider], example: "entitle test anna sport-1"
      ) { call, admin in
        let findings = try await admin.test(
          call[title], for: call[testedAccount], at: try await provider(call, admin))
        let obstacle = findings.first { $0.status == .bad }
        let answer = obstacle.map { "may not watch \(call[title]): \($0.detail)" } ?? "may watch \(call[title])"
        call.show(.array(findings.map(\.json)), lines: findings.flatMap(UpkeepVerbs.lines) + [answer])
        if obstacle != nil { throw QuietExit(.failed) }
      },
      verb("remove", "remove a rule", inputs: [id], example: "entitle remove 4f2a9c") {
        call, admin in
        let rule = try await admin.remove(call[id])
        call.show(rule.json, lines: ["rule \(rule.id) removed"])
      },
    ])

  /// A line of `entitle list`: a rule, or a channel of accounts.
  private struct Row {
    let json: JSONValue
    /// The cells of the line, the provider first.
    let cells: [String]

    init(_ rule: Entitlement) {
      json = rule.json(under: rule.id.text)
      cells = [
        rule.provider.text, rule.id.text, effect(rule), rule.pattern.text, scope(rule), messageText(rule),
      ]
    }

    init(_ channel: ChannelEntry) {
      json = channel.json
      let whose = channel.account.map { "account \($0)" } ?? counted(channel.accounts, "account")
      cells = [channel.provider.text, "-", "channel", channel.channel, whose, "-"]
    }
  }

  /// The provider of the tested account: the given one, or the only one that has an account of this name.
  private static func provider(_ call: Invocation, _ admin: AdminClient) async throws -> ProviderID {
    if let one = call[atProvider] { return one }
    var found: [ProviderID] = []
    for provider in try await admin.providers() where provider.hasAccounts {
      do throws(AdminError) {
        _ = try await admin.account(provider.id, call[testedAccount])
        found.append(provider.id)
      } catch {
        guard error.code == .notFound else { throw error }
      }
    }
    guard let first = found.first else {
      throw AdminError(
        .notFound, "no provider has an account \(call[testedAccount])",
        hint: "list the accounts: regentctl account list PROVIDER")
    }
    guard found.count == 1 else {
      throw CommandError.usage(
        "several providers have an account \(call[testedAccount]): \(found.map(\.text).joined(separator: ", "))",
        hint: "add --provider \(first)")
    }
    return first
  }

  private static let testedAccount = Input.argument(
    "ACCOUNT", identifier("NAME", Names.Account.self), "the account's name"
  ).completedByAccounts { $0[atProvider] }
  private static let title = Input.argument("TITLE", .text("TITLE"), "the title as the app requests it")
  private static let atProvider = Input.option(
    "provider", identifier("ID", Names.Provider.self), "the account's provider, if several have the name"
  ).completedByProviders()
  private static let provider = Input.argument(
    "PROVIDER", identifier("ID", Names.Provider.self), "the provider's id"
  ).completedByProviders()
  private static let optionalProvider = Input.optionalArgument(
    "PROVIDER", identifier("ID", Names.Provider.self), "the provider's id; all providers if left out"
  ).completedByProviders()
  private static let allow = Input.option("allow", pattern, "allow titles that match the pattern")
  private static let deny = Input.option("deny", pattern, "deny titles that match the pattern")
  private static let account = Input.option(
    "account", identifier("NAME", Names.Account.self), "apply the rule to this account only"
  ).completedByAccounts { $0[provider] }
  private static let household = Input.option(
    "household", identifier("NAME", Names.Household.self), "apply the rule to this household only")
  private static let message = Input.option(
    "message", .text("TEXT"), "with --deny: the reason that the viewer sees")
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Entitlement.self), "the rule's id"
  ).completed { request in
    let admin = Connection.admin(request)
    var candidates: [Candidate] = []
    for provider in (try? await admin.providers()) ?? [] {
      let rules = (try? await admin.entitlements(of: provider.id)) ?? []
      candidates += rules.map {
        Candidate($0.id.text, "\($0.provider) \(effect($0)) \($0.pattern)")
      }
    }
    return candidates
  }

  private static var pattern: ValueKind<ResourcePattern> {
    ValueKind("PATTERN", show: { $0.text }) { text throws(ValueProblem) in
      guard let pattern = ResourcePattern(text) else {
        throw ValueProblem(
          "is not a pattern",
          hint: "use 1 to \(ResourcePattern.longest) bytes; * matches any text, \\* a star"
        )
      }
      return pattern
    }
  }

  private static func effect(_ rule: Entitlement) -> String {
    rule.effect == .allow ? "allow" : "deny"
  }

  private static func scope(_ rule: Entitlement) -> String {
    switch rule.scope {
    case .everybody: "everybody"
    case .household(let household): "household \(household)"
    case .account(let account): "account \(account)"
    }
  }

  private static func messageText(_ rule: Entitlement) -> String {
    if case .deny(let message?) = rule.effect { message } else { "-" }
  }
}
