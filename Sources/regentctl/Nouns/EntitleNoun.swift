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
        "list", "list rules", inputs: [optionalProvider],
        example: "entitle list cable"
      ) { call, admin in
        let one = call[optionalProvider]
        var all: [Entitlement] = []
        for id in try await admin.providers(one) {
          all += try await admin.entitlements(of: id)
        }
        call.show(
          list: all, id: \.id.text,
          (one == nil ? [Table.Column("PROVIDER", .name)] : []) + [
            Table.Column.id("ID"), Table.Column("RULE"), Table.Column("PATTERN"),
            Table.Column("FOR"), Table.Column("MESSAGE"),
          ]
        ) { rule in
          (one == nil ? [rule.provider.text] : []) + [
            rule.id.text, effect(rule), rule.pattern.text, scope(rule), messageText(rule),
          ]
        }
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
      verb("remove", "remove a rule", inputs: [id], example: "entitle remove 4f2a9c") {
        call, admin in
        let rule = try await admin.remove(call[id])
        call.show(rule.json, lines: ["rule \(rule.id) removed"])
      },
    ])

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
