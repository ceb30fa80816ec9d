import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let accounts = Table<Account>(
    "account", key: 2, .column("provider", \.provider), .column("name", \.name), .column("household", \.household),
    .column("disabled", \.isDisabled), .column("attributes", \.attributeColumn)
  ) { provider, name, household, isDisabled, attributes throws(UnreadableRow) in
    var ratings: [ParentalRating] = []
    for rating in try present(attributes["maximumRatings"]?.array) {
      ratings.append(
        ParentalRating(
          scheme: RatingScheme(try present(rating[0]?.string)),
          value: try present(rating[1]?.string)))
    }
    return Account(
      provider: provider, name: name, household: household, isDisabled: isDisabled,
      attributes: AccountAttributes(
        zipCodes: try attributes.list("zipCodes"), maximumRatings: ratings,
        channels: try attributes.list("channels")),
      mayChangePassword: attributes["passwordChange"]?.bool)
  }

  static let passwords = Table<PasswordRecord>(
    "password", key: 2, .column("provider", \.provider), .column("name", \.name), .column("phc", \.phc),
    make: PasswordRecord.init)

  static let entitlements = Table<Entitlement>(
    "entitlement", indexes: [Index("provider", on: "provider, account")], .column("id", \.id),
    .column("provider", \.provider),
    .column("household", \.scope.household), .column("account", \.scope.account), .column("pattern", \.pattern.text),
    .column("effect", \.effect.word), .column("message", \.effect.message)
  ) { id, provider, household, account, pattern, word, message throws(UnreadableRow) in
    let effect: EntitlementEffect
    switch word {
    case "allow": effect = .allow
    case "deny": effect = .deny(message: message)
    default: throw UnreadableRow()
    }
    let scope =
      account.map { EntitlementScope.account($0) }
      ?? household.map { EntitlementScope.household($0) } ?? .everybody
    return Entitlement(
      id: id, provider: provider, scope: scope, pattern: try present(ResourcePattern(pattern)), effect: effect)
  }
}

extension Account {
  fileprivate var attributeColumn: JSONValue {
    let ratings = attributes.maximumRatings.map { rating -> JSONValue in .list([rating.scheme.name, rating.value]) }
    var object: JSONObject = [
      "zipCodes": .list(attributes.zipCodes), "maximumRatings": .array(ratings),
      "channels": .list(attributes.channels),
    ]
    // The member is left out when it is not set, so that the row has the same bytes as in earlier versions.
    if let may = mayChangePassword { object["passwordChange"] = .bool(may) }
    return .object(object)
  }
}

extension EntitlementScope {
  fileprivate var household: HouseholdID? { if case .household(let id) = self { id } else { nil } }
  fileprivate var account: AccountName? { if case .account(let name) = self { name } else { nil } }
}

extension EntitlementEffect {
  fileprivate var word: String { if case .deny = self { "deny" } else { "allow" } }
  fileprivate var message: String? { if case .deny(let message) = self { message } else { nil } }
}

struct PasswordRecord: Sendable {
  let provider: ProviderID
  let name: AccountName
  let phc: String
}
