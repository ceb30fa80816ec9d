public import RegentJSON
public import RegentPairing

extension Requestor: OperatorRecord {
  public enum Member: String, CaseIterable, Hashable, Sendable {
    case id, name, domains
    case redirectURIs = "redirectUris"
    case logo, color, contact, certificate, signaturePolicy, enhancedErrors, numberMatching
    case exposesDeviceID = "exposeDeviceId"
    case metadata
    case isPlatform = "platform"
    case registration
  }

  public static var key: [Member] { [.id] }

  /// Ids that no requestor may have, because `regentctl integrate` has subcommands with these names.
  public static let wordsOfVerbs: Set<String> = ["list", "remove"]

  /// Reads a requestor from its document.
  ///
  /// The default for its name is its id.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    let id: RequestorID = try object.identifier(Member.id.rawValue)
    self.init(id: id, name: try object.displayName(Member.name.rawValue) ?? id.text)
    domains = try object.hostNames(Member.domains.rawValue)
    redirectURIs = try object.redirectAddresses(Member.redirectURIs.rawValue)
    logo = try object.webAddress(Member.logo.rawValue)
    color = try object.color(Member.color.rawValue)
    contact = try object.displayName(Member.contact.rawValue)
    certificate = try object.certificate(Member.certificate.rawValue)
    signaturePolicy = try object.optionalWord(Member.signaturePolicy.rawValue) ?? .standard
    enhancedErrors = try object.optionalBool(Member.enhancedErrors.rawValue) ?? false
    numberMatching = try object.optionalBool(Member.numberMatching.rawValue) ?? false
    exposesDeviceID = try object.optionalBool(Member.exposesDeviceID.rawValue) ?? false
    metadataKeys = try object.metadataKeys(Member.metadata.rawValue)
    isPlatform = try object.optionalBool(Member.isPlatform.rawValue) ?? false
    registration = try object.optionalWord(Member.registration.rawValue) ?? .statement
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.set(Member.id.rawValue, id)
    object.set(Member.name.rawValue, name)
    object.set(Member.domains.rawValue, domains)
    object.set(Member.redirectURIs.rawValue, redirectURIs)
    object.set(Member.logo.rawValue, logo)
    object.set(Member.color.rawValue, color)
    object.set(Member.contact.rawValue, contact)
    object.set(Member.certificate.rawValue, certificate)
    object.set(Member.signaturePolicy.rawValue, signaturePolicy.rawValue)
    object.set(Member.enhancedErrors.rawValue, enhancedErrors)
    object.set(Member.numberMatching.rawValue, numberMatching)
    object.set(Member.exposesDeviceID.rawValue, exposesDeviceID)
    object.set(Member.metadata.rawValue, metadataKeys.map(\.rawValue).sorted())
    object.set(Member.isPlatform.rawValue, isPlatform)
    object.set(Member.registration.rawValue, registration.rawValue)
    return object
  }
}

extension JSONObject {
  fileprivate func metadataKeys(_ name: String) throws(JSONShapeError) -> Set<MetadataKey> {
    var keys: Set<MetadataKey> = []
    for text in try optionalStrings(name) ?? [] {
      guard let key = MetadataKey(rawValue: text) else {
        let all = MetadataKey.allCases.map(\.rawValue).joined(separator: ", ")
        throw JSONShapeError(name: name, expected: "\(all)")
      }
      keys.insert(key)
    }
    return keys
  }
}
