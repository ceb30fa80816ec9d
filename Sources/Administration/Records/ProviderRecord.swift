public import RegentJSON
public import RegentPairing

extension Provider: OperatorRecord {
  /// The members of a provider; the last three apply only to temporary providers.
  public enum Member: String, CaseIterable, Hashable, Sendable {
    case id, name, kind, logo, featured, boarding
    case platformID = "platformId"
    case secureSheet, passwordChange
    case lifetime = "lifetimeMs"
    case promotional, resourceLimit
  }

  /// The kind of a provider as a word for documents.
  public enum KindName: String, CaseIterable, Hashable, Sendable {
    case local, temporary
  }

  public static var key: [Member] { [.id] }

  /// The default duration of a temporary pass: 10 minutes.
  public static let usualPass: Duration = .seconds(600)

  /// Reads a provider from its document.
  ///
  /// The default for its name is its id.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    let id: ProviderID = try object.identifier(Member.id.rawValue)
    let lifetime = try object.optionalSpan(Member.lifetime.rawValue)
    let limit = try object.optionalInteger(Member.resourceLimit.rawValue, 1...100_000)
    let promotional = try object.optionalBool(Member.promotional.rawValue) ?? false
    let kind: ProviderKind
    switch try object.word(Member.kind.rawValue, KindName.self) {
    case .local: kind = .local
    case .temporary:
      kind = .temporary(
        TemporaryPassRules(
          duration: lifetime ?? Self.usualPass, resourceLimit: limit, promotional: promotional))
    }
    self.init(id: id, name: try object.displayName(Member.name.rawValue) ?? id.text, kind: kind)
    logo = try object.webAddress(Member.logo.rawValue)
    featured = try object.optionalBool(Member.featured.rawValue) ?? false
    boarding = try object.optionalWord(Member.boarding.rawValue) ?? .none
    platformID = try object.displayName(Member.platformID.rawValue)
    secureSheet = try object.optionalBool(Member.secureSheet.rawValue) ?? false
    mayChangePasswords = try object.optionalBool(Member.passwordChange.rawValue)
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.set(Member.id.rawValue, id)
    object.set(Member.name.rawValue, name)
    object.set(Member.kind.rawValue, kindName.rawValue)
    object.set(Member.logo.rawValue, logo)
    object.set(Member.featured.rawValue, featured)
    object.set(Member.boarding.rawValue, boarding.rawValue)
    object.set(Member.platformID.rawValue, platformID)
    object.set(Member.secureSheet.rawValue, secureSheet)
    object[Member.passwordChange.rawValue] = mayChangePasswords.map(JSONValue.bool)
    if let rules = temporaryPass {
      object.set(Member.lifetime.rawValue, rules.duration)
      object.set(Member.promotional.rawValue, rules.promotional)
      object.set(Member.resourceLimit.rawValue, rules.resourceLimit)
    }
    return object
  }

  /// The kind of the provider as one word.
  public var kindName: KindName {
    switch kind {
    case .local: .local
    case .temporary: .temporary
    }
  }
}
