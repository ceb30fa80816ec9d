import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let requestors = Table<Requestor>(
    "requestor", known: { $0.requestors }, .column("id", \.id), .column("name", \.name),
    .column("settings", \.settingsColumn)
  ) { id, name, settings throws(UnreadableRow) in
    var keys: Set<MetadataKey> = []
    for key in try settings.list("metadataKeys") {
      keys.insert(try present(MetadataKey(rawValue: key)))
    }
    return Requestor(
      id: id, name: name, domains: try settings.list("domains"),
      redirectURIs: try settings.list("redirectURIs"), logo: try settings.optionalText("logo"),
      color: try settings.optionalText("color"),
      // Rows from earlier versions have no member `contact`.
      contact: try settings.optionalText("contact"),
      certificate: try settings.optionalText("certificate"),
      signaturePolicy: try present(SignaturePolicy(rawValue: settings.text("policy"))),
      enhancedErrors: try settings.flag("enhancedErrors"),
      numberMatching: try settings.flag("numberMatching"),
      exposesDeviceID: try settings.flag("exposesDeviceID"), metadataKeys: keys,
      isPlatform: settings["platform"]?.bool ?? false,
      registration: try settings.optionalText("registration").map { word throws(UnreadableRow) in
        try present(ClientRegistration(rawValue: word))
      } ?? .statement)
  }

  static let providers = Table<Provider>(
    "provider", known: { $0.providers }, .column("id", \.id), .column("name", \.name), .column("kind", \.kindColumn),
    .column("settings", \.settingsColumn)
  ) { id, name, word, settings throws(UnreadableRow) in
    let kind: ProviderKind
    switch word {
    case "local": kind = .local
    case "temporary":
      kind = .temporary(
        TemporaryPassRules(
          duration: try settings.span("duration"),
          resourceLimit: try settings.optionalNumber("resourceLimit"),
          promotional: try settings.flag("promotional")))
    default: throw UnreadableRow()
    }
    return Provider(
      id: id, name: name, kind: kind, logo: try settings.optionalText("logo"),
      featured: try settings.flag("featured"),
      boarding: try present(BoardingStatus(rawValue: settings.text("boarding"))),
      platformID: try settings.optionalText("platformID"),
      secureSheet: try settings.flag("secureSheet"),
      mayChangePasswords: settings["passwordChange"]?.bool)
  }

  static let integrations = Table<Integration>(
    "integration", key: 2, known: { $0.integrations }, indexes: [Index("provider", on: "provider")],
    .column("requestor", \.requestor),
    .column("provider", \.provider), .column("enabled", \.enabled), .column("degradation", \.degradation),
    .column("settings", \.settingsColumn)
  ) { requestor, provider, enabled, degradation, settings throws(UnreadableRow) in
    var profiles: [ProfileName: IntegrationProfile] = [:]
    for member in try present(settings["profiles"]?.object).members {
      profiles[try present(ProfileName(member.name))] = IntegrationProfile(
        authenticationLifetime: try member.value.optionalSpan("authenticationLifetime"),
        authorizationLifetime: try member.value.optionalSpan("authorizationLifetime"),
        preauthorizationLimit: try member.value.optionalNumber("preauthorizationLimit"))
    }
    return Integration(
      requestor: requestor, provider: provider, enabled: enabled,
      singleSignOn: try settings.flag("singleSignOn"),
      settings: IntegrationSettings(
        authenticationLifetime: try settings.span("authenticationLifetime"),
        authorizationLifetime: try settings.span("authorizationLifetime"),
        preauthorizationLimit: try present(settings.optionalNumber("preauthorizationLimit"))),
      profiles: profiles, degradation: degradation)
  }

  static let applications = Table<ApplicationRecord>(
    "application", indexes: [Index("requestor", on: "requestor")], .column("id", \.id),
    .column("requestor", \.requestor), .column("name", \.name),
    .column("issued", \.issued), .column("revoked", \.isRevoked), make: ApplicationRecord.init)

  static let clients = Table<ClientRecord>(
    "client", indexes: [Index("application", on: "application"), Index("requestor", on: "requestor")],
    .column("id", \.id), .column("secret", \.secret), .column("application", \.application),
    .column("requestor", \.requestor),
    .column("redirect_uris", \.addressColumn) { @Sendable json throws(UnreadableRow) in try json.texts() },
    .column("issued", \.issued), make: ClientRecord.init)
}

extension Requestor {
  fileprivate var settingsColumn: JSONValue {
    [
      "domains": .list(domains), "redirectURIs": .list(redirectURIs),
      "logo": .optional(logo), "color": .optional(color),
      "contact": .optional(contact),
      "certificate": .optional(certificate), "policy": .string(signaturePolicy.rawValue),
      "enhancedErrors": .bool(enhancedErrors), "numberMatching": .bool(numberMatching),
      "exposesDeviceID": .bool(exposesDeviceID),
      "metadataKeys": .list(metadataKeys.map(\.rawValue).sorted()), "platform": .bool(isPlatform),
      "registration": .string(registration.rawValue),
    ]
  }
}

extension Provider {
  fileprivate var kindColumn: String {
    switch kind {
    case .local: "local"
    case .temporary: "temporary"
    }
  }

  fileprivate var settingsColumn: JSONValue {
    var settings: JSONObject = [
      "logo": .optional(logo), "featured": .bool(featured), "boarding": .string(boarding.rawValue),
      "platformID": .optional(platformID), "secureSheet": .bool(secureSheet),
    ]
    // The member is left out when it is not set, so that the row has the same bytes as in earlier versions.
    if let may = mayChangePasswords { settings["passwordChange"] = .bool(may) }
    if case .temporary(let rules) = kind {
      settings["duration"] = .span(rules.duration)
      settings["resourceLimit"] = rules.resourceLimit.map { .integer(Int64($0)) }
      settings["promotional"] = .bool(rules.promotional)
    }
    return .object(settings)
  }
}

extension Integration {
  fileprivate var settingsColumn: JSONValue {
    let members = profiles.sorted { $0.key < $1.key }.map { name, profile in
      JSONObject.Member(
        name.text,
        [
          "authenticationLifetime": profile.authenticationLifetime.map { .span($0) } ?? .null,
          "authorizationLifetime": profile.authorizationLifetime.map { .span($0) } ?? .null,
          "preauthorizationLimit": profile.preauthorizationLimit.map { .integer(Int64($0)) }
            ?? .null,
        ])
    }
    return [
      "singleSignOn": .bool(singleSignOn),
      "authenticationLifetime": .span(settings.authenticationLifetime),
      "authorizationLifetime": .span(settings.authorizationLifetime),
      "preauthorizationLimit": .integer(Int64(settings.preauthorizationLimit)),
      "profiles": .object(JSONObject(members)),
    ]
  }
}

extension ClientRecord {
  fileprivate var addressColumn: JSONValue { .list(redirectURIs) }
}
