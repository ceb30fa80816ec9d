import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let accounts = Table<Account>(
    "account", key: 2,
    [
      .text("provider"), .text("name"), .text("household"), .number("disabled"),
      .text("attributes"),
    ]
  ) { one, _ in
    let ratings = one.attributes.maximumRatings.map { rating -> JSONValue in
      .list([rating.scheme.name, rating.value])
    }
    var attributes: JSONObject = [
      "zipCodes": .list(one.attributes.zipCodes), "maximumRatings": .array(ratings),
      "channels": .list(one.attributes.channels),
    ]
    // The member is left out when it is not set, so that the row has the same bytes as in earlier versions.
    if let may = one.mayChangePassword { attributes["passwordChange"] = .bool(may) }
    return [
      .text(one.provider.text), .text(one.name.text), .optional(one.household?.text),
      .flag(one.isDisabled), JSONValue.object(attributes).column,
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let provider: ProviderID = try fields.name()
    let name: AccountName = try fields.name()
    let household: HouseholdID? = try fields.optionalName()
    let isDisabled = try fields.flag()
    let attributes = try fields.json()
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
    "password", key: 2, [.text("provider"), .text("name"), .text("phc")]
  ) { one, _ in
    [.text(one.provider.text), .text(one.name.text), .text(one.phc)]
  } decode: { fields, _ throws(UnreadableRow) in
    PasswordRecord(
      provider: try fields.name(), name: try fields.name(), phc: try fields.text())
  }

  static let entitlements = Table<Entitlement>(
    "entitlement",
    [
      .text("id"), .text("provider"), .text("household"), .text("account"), .text("pattern"),
      .text("effect"), .text("message"),
    ]
  ) { one, _ in
    var household: String?
    var account: String?
    switch one.scope {
    case .everybody: break
    case .household(let id): household = id.text
    case .account(let name): account = name.text
    }
    var effect = "allow"
    var message: String?
    if case .deny(let words) = one.effect { (effect, message) = ("deny", words) }
    return [
      .text(one.id.text), .text(one.provider.text), .optional(household), .optional(account),
      .text(one.pattern.text), .text(effect), .optional(message),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let id: EntitlementID = try fields.name()
    let provider: ProviderID = try fields.name()
    let household: HouseholdID? = try fields.optionalName()
    let account: AccountName? = try fields.optionalName()
    let pattern = try present(ResourcePattern(fields.text()))
    let word = try fields.text()
    let message = try fields.optionalText()
    let effect: EntitlementEffect
    switch word {
    case "allow": effect = .allow
    case "deny": effect = .deny(message: message)
    default: throw UnreadableRow()
    }
    let scope =
      account.map { EntitlementScope.account($0) }
      ?? household.map { EntitlementScope.household($0) } ?? .everybody
    return Entitlement(id: id, provider: provider, scope: scope, pattern: pattern, effect: effect)
  }
}

struct PasswordRecord: Sendable {
  let provider: ProviderID
  let name: AccountName
  let phc: String
}
