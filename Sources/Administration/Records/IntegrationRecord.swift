public import RegentJSON
public import RegentPairing

extension Integration: OperatorRecord {
  public enum Member: String, CaseIterable, Hashable, Sendable {
    case requestor, provider, enabled, singleSignOn
    case authenticationLifetime = "authenticationLifetimeMs"
    case authorizationLifetime = "authorizationLifetimeMs"
    case preauthorizationLimit, profiles, degradation
  }

  public static var key: [Member] { [.requestor, .provider] }

  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      requestor: try object.identifier(Member.requestor.rawValue),
      provider: try object.identifier(Member.provider.rawValue))
    enabled = try object.optionalBool(Member.enabled.rawValue) ?? true
    singleSignOn = try object.optionalBool(Member.singleSignOn.rawValue) ?? false
    degradation = try object.optionalWord(Member.degradation.rawValue)
    let values = try object.profile()
    let usual = IntegrationSettings()
    settings = IntegrationSettings(
      authenticationLifetime: values.authenticationLifetime ?? usual.authenticationLifetime,
      authorizationLifetime: values.authorizationLifetime ?? usual.authorizationLifetime,
      preauthorizationLimit: values.preauthorizationLimit ?? usual.preauthorizationLimit)
    let all = try object.optionalObject(Member.profiles.rawValue) ?? [:]
    for member in all.members {
      guard let name = ProfileName(member.name), let values = member.value.object else {
        throw JSONShapeError(
          name: Member.profiles.rawValue,
          expected: "an object whose names have only letters, digits, dots, dashes and underscores")
      }
      let profile = try values.profile()
      // A profile (a named set of lifetimes and limits) without any setting is dropped. This is also how an operator
      // removes a profile.
      if profile != IntegrationProfile() { profiles[name] = profile }
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.set(Member.requestor.rawValue, requestor)
    object.set(Member.provider.rawValue, provider)
    object.set(Member.enabled.rawValue, enabled)
    object.set(Member.singleSignOn.rawValue, singleSignOn)
    object.set(
      IntegrationProfile(
        authenticationLifetime: settings.authenticationLifetime,
        authorizationLifetime: settings.authorizationLifetime,
        preauthorizationLimit: settings.preauthorizationLimit))
    if !profiles.isEmpty {
      let members = profiles.sorted { $0.key < $1.key }.map { name, profile in
        var object = JSONObject()
        object.set(profile)
        return JSONObject.Member(name.text, .object(object))
      }
      object[Member.profiles.rawValue] = .object(JSONObject(members))
    }
    object.set(Member.degradation.rawValue, degradation?.rawValue)
    return object
  }
}

extension JSONObject {
  fileprivate func profile() throws(JSONShapeError) -> IntegrationProfile {
    typealias Member = Integration.Member
    return IntegrationProfile(
      authenticationLifetime: try optionalSpan(Member.authenticationLifetime.rawValue),
      authorizationLifetime: try optionalSpan(Member.authorizationLifetime.rawValue),
      preauthorizationLimit: try optionalInteger(
        Member.preauthorizationLimit.rawValue, 1...1_000))
  }

  fileprivate mutating func set(_ profile: IntegrationProfile) {
    typealias Member = Integration.Member
    set(Member.authenticationLifetime.rawValue, profile.authenticationLifetime)
    set(Member.authorizationLifetime.rawValue, profile.authorizationLifetime)
    set(Member.preauthorizationLimit.rawValue, profile.preauthorizationLimit)
  }
}
