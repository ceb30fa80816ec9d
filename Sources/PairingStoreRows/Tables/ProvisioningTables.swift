import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let requestors = Table<Requestor>(
    "requestor", known: { $0.requestors }, [.text("id"), .text("name"), .text("settings")]
  ) { one, _ in
    let settings: JSONValue = [
      "domains": .list(one.domains), "redirectURIs": .list(one.redirectURIs),
      "logo": .optional(one.logo), "color": .optional(one.color),
      "contact": .optional(one.contact),
      "certificate": .optional(one.certificate), "policy": .string(one.signaturePolicy.rawValue),
      "enhancedErrors": .bool(one.enhancedErrors), "numberMatching": .bool(one.numberMatching),
      "exposesDeviceID": .bool(one.exposesDeviceID),
      "metadataKeys": .list(one.metadataKeys.map(\.rawValue).sorted()), "platform": .bool(one.isPlatform),
      "registration": .string(one.registration.rawValue),
    ]
    return [.text(one.id.text), .text(one.name), settings.column]
  } decode: { fields, _ throws(UnreadableRow) in
    let id: RequestorID = try fields.name()
    let name = try fields.text()
    let settings = try fields.json()
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
    "provider", known: { $0.providers }, [.text("id"), .text("name"), .text("kind"), .text("settings")]
  ) { one, _ in
    var settings: JSONValue = [
      "logo": .optional(one.logo), "featured": .bool(one.featured),
      "boarding": .string(one.boarding.rawValue), "platformID": .optional(one.platformID),
      "secureSheet": .bool(one.secureSheet),
    ]
    if let may = one.mayChangePasswords, case .object(var object) = settings {
      object["passwordChange"] = .bool(may)
      settings = .object(object)
    }
    let word: String
    switch one.kind {
    case .local: word = "local"
    case .temporary(let rules):
      word = "temporary"
      guard case .object(var object) = settings else { break }
      object["duration"] = .span(rules.duration)
      object["resourceLimit"] = rules.resourceLimit.map { .integer(Int64($0)) }
      object["promotional"] = .bool(rules.promotional)
      settings = .object(object)
    }
    return [.text(one.id.text), .text(one.name), .text(word), settings.column]
  } decode: { fields, _ throws(UnreadableRow) in
    let id: ProviderID = try fields.name()
    let name = try fields.text()
    let word = try fields.text()
    let settings = try fields.json()
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
      // The member is left out when it is not set, so that the row has the same bytes as in earlier versions.
      mayChangePasswords: settings["passwordChange"]?.bool)
  }

  static let integrations = Table<Integration>(
    "integration", key: 2, known: { $0.integrations },
    [
      .text("requestor"), .text("provider"), .number("enabled"), .text("degradation"),
      .text("settings"),
    ]
  ) { one, _ in
    let profiles = one.profiles.sorted { $0.key < $1.key }.map { name, profile in
      JSONObject.Member(
        name.text,
        [
          "authenticationLifetime": profile.authenticationLifetime.map { .span($0) } ?? .null,
          "authorizationLifetime": profile.authorizationLifetime.map { .span($0) } ?? .null,
          "preauthorizationLimit": profile.preauthorizationLimit.map { .integer(Int64($0)) }
            ?? .null,
        ])
    }
    let settings: JSONValue = [
      "singleSignOn": .bool(one.singleSignOn),
      "authenticationLifetime": .span(one.settings.authenticationLifetime),
      "authorizationLifetime": .span(one.settings.authorizationLifetime),
      "preauthorizationLimit": .integer(Int64(one.settings.preauthorizationLimit)),
      "profiles": .object(JSONObject(profiles)),
    ]
    return [
      .text(one.requestor.text), .text(one.provider.text), .flag(one.enabled),
      .optional(one.degradation?.rawValue), settings.column,
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let requestor: RequestorID = try fields.name()
    let provider: ProviderID = try fields.name()
    let enabled = try fields.flag()
    let degradation = try fields.optionalText()
    let settings = try fields.json()
    var profiles: [ProfileName: IntegrationProfile] = [:]
    for member in try present(settings["profiles"]?.object).members {
      profiles[try present(ProfileName(member.name))] = IntegrationProfile(
        authenticationLifetime: try member.value.optionalSpan("authenticationLifetime"),
        authorizationLifetime: try member.value.optionalSpan("authorizationLifetime"),
        preauthorizationLimit: try member.value.optionalNumber("preauthorizationLimit"))
    }
    var mode: Degradation?
    if let degradation { mode = try present(Degradation(rawValue: degradation)) }
    return Integration(
      requestor: requestor, provider: provider, enabled: enabled,
      singleSignOn: try settings.flag("singleSignOn"),
      settings: IntegrationSettings(
        authenticationLifetime: try settings.span("authenticationLifetime"),
        authorizationLifetime: try settings.span("authorizationLifetime"),
        preauthorizationLimit: try present(settings.optionalNumber("preauthorizationLimit"))),
      profiles: profiles, degradation: mode)
  }

  static let applications = Table<ApplicationRecord>(
    "application",
    [.text("id"), .text("requestor"), .text("name"), .number("issued"), .number("revoked")]
  ) { one, _ in
    [
      .text(one.id.text), .text(one.requestor.text), .text(one.name),
      .integer(one.issued.milliseconds), .flag(one.isRevoked),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    ApplicationRecord(
      id: try fields.name(), requestor: try fields.name(), name: try fields.text(),
      issued: try fields.instant(), isRevoked: try fields.flag())
  }

  static let clients = Table<ClientRecord>(
    "client",
    [
      .text("id"), .bytes("secret"), .text("application"), .text("requestor"),
      .text("redirect_uris"), .number("issued"),
    ]
  ) { one, _ in
    [
      .text(one.id.text), .blob(one.secret.bytes), .text(one.application.text),
      .text(one.requestor.text), JSONValue.list(one.redirectURIs).column,
      .integer(one.issued.milliseconds),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    ClientRecord(
      id: try fields.name(), secret: try fields.hash(), application: try fields.name(),
      requestor: try fields.name(), redirectURIs: try fields.json().texts(),
      issued: try fields.instant())
  }
}
