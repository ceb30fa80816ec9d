public import RegentJSON
public import RegentPairing

extension Entitlement: AdminDocument {
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self = try EntitlementRequest(object).entitlement(id: try object.identifier("id"))
  }

  public var object: JSONObject {
    var object = EntitlementRequest(self).object
    object.set("id", id)
    return object
  }
}

/// An entitlement rule as an operator writes it, before the service has given it an id.
public struct EntitlementRequest: AdminDocument, Hashable {
  public let provider: ProviderID
  /// The viewers to whom the rule applies.
  public let scope: EntitlementScope
  /// The titles that the rule applies to.
  public let pattern: ResourcePattern
  /// Whether the rule allows or denies the titles to these viewers.
  public let effect: EntitlementEffect

  public init(
    provider: ProviderID, scope: EntitlementScope, pattern: ResourcePattern,
    effect: EntitlementEffect
  ) {
    self.provider = provider
    self.scope = scope
    self.pattern = pattern
    self.effect = effect
  }

  public init(_ entitlement: Entitlement) {
    self.init(
      provider: entitlement.provider, scope: entitlement.scope, pattern: entitlement.pattern,
      effect: entitlement.effect)
  }

  /// Whether both rules apply to the same titles and viewers, whether they allow or deny.
  public func isAboutSame(as other: EntitlementRequest) -> Bool {
    provider == other.provider && scope == other.scope
      && pattern.text.utf8.elementsEqual(other.pattern.text.utf8)
  }

  /// Reads an entitlement rule.
  ///
  /// It must have exactly one of `allow` and `deny`, and at most one of `account` and `household`.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    let (allow, deny) = (try object.optionalString("allow"), try object.optionalString("deny"))
    let message = try object.displayName("message")
    guard let text = allow ?? deny, allow == nil || deny == nil else {
      throw JSONShapeError(name: "allow", expected: "given if \"deny\" is not, and only then")
    }
    guard let pattern = ResourcePattern(text) else {
      throw JSONShapeError(
        name: allow == nil ? "deny" : "allow",
        expected: "a pattern of 1 to \(ResourcePattern.longest) bytes; * matches any text")
    }
    guard allow == nil || message == nil else {
      throw JSONShapeError(name: "message", expected: "removed: only deny rules have a message")
    }
    let account: AccountName? = try object.optionalIdentifier("account")
    let household: HouseholdID? = try object.optionalIdentifier("household")
    let scope: EntitlementScope
    switch (account, household) {
    case (nil, nil): scope = .everybody
    case (let account?, nil): scope = .account(account)
    case (nil, let household?): scope = .household(household)
    case (_?, _?):
      throw JSONShapeError(name: "household", expected: "removed if the member account is given")
    }
    self.init(
      provider: try object.identifier("provider"), scope: scope, pattern: pattern,
      effect: allow == nil ? .deny(message: message) : .allow)
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.set("provider", provider)
    switch scope {
    case .everybody: break
    case .household(let household): object.set("household", household)
    case .account(let account): object.set("account", account)
    }
    switch effect {
    case .allow: object.set("allow", pattern.text)
    case .deny(let message):
      object.set("deny", pattern.text)
      object.set("message", message)
    }
    return object
  }

  public func entitlement(id: EntitlementID) -> Entitlement {
    Entitlement(id: id, provider: provider, scope: scope, pattern: pattern, effect: effect)
  }
}

/// A channel that accounts of a provider have, in the list of rules.
public struct ChannelEntry: AdminDocument, Codable, Hashable {
  public var provider: ProviderID
  public var channel: String
  /// The number of accounts that have the channel.
  public var accounts: Int
  /// The account, if only one has the channel.
  public var account: AccountName?

  public init(provider: ProviderID, channel: String, account: AccountName) {
    self.provider = provider
    self.channel = channel
    self.account = account
    accounts = 0
  }
}
