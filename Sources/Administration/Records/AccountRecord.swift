public import RegentJSON
public import RegentPairing

extension Account: OperatorRecord {
  /// The members of an account.
  ///
  /// The password is not one of them: it is set by a request of its own.
  public enum Member: String, CaseIterable, Hashable, Sendable {
    case provider, name, household, disabled, zipCodes, maximumRatings, channels, passwordChange
  }

  public static var key: [Member] { [.provider, .name] }

  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      provider: try object.identifier(Member.provider.rawValue),
      name: try object.identifier(Member.name.rawValue))
    household = try object.optionalIdentifier(Member.household.rawValue)
    isDisabled = try object.optionalBool(Member.disabled.rawValue) ?? false
    attributes = AccountAttributes(
      zipCodes: try object.shortTexts(Member.zipCodes.rawValue),
      maximumRatings: try object.documents(Member.maximumRatings.rawValue),
      channels: try object.shortTexts(Member.channels.rawValue))
    mayChangePassword = try object.optionalBool(Member.passwordChange.rawValue)
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.set(Member.provider.rawValue, provider)
    object.set(Member.name.rawValue, name)
    object.set(Member.household.rawValue, household)
    object.set(Member.disabled.rawValue, isDisabled)
    object.set(Member.zipCodes.rawValue, attributes.zipCodes)
    object.set(Member.maximumRatings.rawValue, attributes.maximumRatings)
    object.set(Member.channels.rawValue, attributes.channels)
    object[Member.passwordChange.rawValue] = mayChangePassword.map(JSONValue.bool)
    return object
  }
}

extension ParentalRating: AdminDocument {
  public init(_ object: JSONObject) throws(JSONShapeError) {
    let scheme = try object.string("scheme")
    let value = try object.string("value")
    guard (1...64).contains(scheme.utf8.count), (1...64).contains(value.utf8.count) else {
      throw JSONShapeError(name: "maximumRatings", expected: "schemes and values of 1 to 64 bytes")
    }
    self.init(scheme: RatingScheme(scheme), value: value)
  }

  public var object: JSONObject { ["scheme": .string(scheme.name), "value": .string(value)] }
}
