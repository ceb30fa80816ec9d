public import RegentJSON
import RegentPairing

extension ConfigDocument: ReadableDocument {
  public init(from object: JSONObject) throws(JSONShapeError) {
    let requestor = try object.object("requestor")
    let domains = try requestor.optionalArray("domains") ?? []
    var providers: [ListedProvider] = []
    for element in try requestor.array("mvpds") {
      guard let provider = element.object else {
        throw JSONShapeError(name: "mvpds", expected: "an array of objects")
      }
      providers.append(try ListedProvider(from: provider))
    }
    self.init(
      device: try object.optionalString("device") ?? "unknown",
      clientType: try object.optionalString("clientType") ?? "unknown",
      operatingSystem: try object.optionalString("os") ?? "unknown",
      requestor: try requestor.string("id"), name: try requestor.optionalString("name") ?? "",
      domains: domains.compactMap { $0["name"]?.string },
      exposesDeviceID: try requestor.optionalBool("exposeDeviceId") ?? false,
      providers: providers)
  }
}

extension ListedProvider {
  fileprivate init(from object: JSONObject) throws(JSONShapeError) {
    let id = try object.string("id")
    let status = try object.optionalString("boardingStatus")?.lowercased()
    self.init(
      id: id, displayName: try object.optionalString("displayName") ?? id,
      logoURL: try object.optionalString("logoUrl"),
      isTemporaryPass: try object.optionalBool("isTempPass") ?? false,
      boarding: status.flatMap(BoardingStatus.init) ?? .none,
      platformID: try object.optionalString("platformMappingId"),
      enablesPlatformServices: try object.optionalBool("enablePlatformServices") ?? false,
      isFeatured: try object.optionalBool("featured") ?? false,
      wantsSecureSheet: try object.optionalBool("secureSheet") ?? false,
      wantsIdentity: try object.optionalBool("promotional") ?? false)
  }
}

extension PreauthorizationDocument: ReadableDocument {
  /// Reads the response to a preauthorization.
  ///
  /// Older services send `null` for an empty list.
  public init(from object: JSONObject) throws(JSONShapeError) {
    var resources: [Resource] = []
    for element in try object.optionalArray("resources") ?? [] {
      guard let resource = element.object else {
        throw JSONShapeError(name: "resources", expected: "an array of objects")
      }
      let error = try resource.optionalObject("error")
      resources.append(
        Resource(
          id: try resource.string("id"), isAuthorized: try resource.bool("authorized"),
          error: try error.map { object throws(JSONShapeError) in try ErrorDocument(from: object) })
      )
    }
    self.init(resources: resources)
  }
}

extension ErrorDocument: ReadableDocument {
  /// Reads a generic or enhanced error.
  ///
  /// An unknown enhanced code is dropped, and the other members are still read.
  public init(from object: JSONObject) throws(JSONShapeError) {
    let code = try object.optionalString("code").flatMap(EnhancedCode.init)
    let helpURL = try object.optionalString("helpUrl") ?? ""
    let trace = try object.optionalString("trace") ?? ""
    guard let status = try object.optionalInt("status") else {
      throw JSONShapeError(name: "status", expected: "a number", isMissing: true)
    }
    self.init(
      status: status, message: try object.optionalString("message"),
      details: try object.optionalString("details"),
      enhancement: code.map { Enhancement(code: $0, helpURL: helpURL, trace: trace) })
  }
}

extension UserMetadataDocument: ReadableDocument {
  /// Reads the viewer's attributes.
  ///
  /// An attribute with a value of an unknown type is omitted.
  public init(from object: JSONObject) throws(JSONShapeError) {
    let encrypted = try object.optionalStrings("encrypted") ?? []
    let attributes = try object.object("data").members.compactMap { member in
      Value(reading: member.value).map {
        Attribute(name: member.name, value: $0, isEncrypted: encrypted.contains(member.name))
      }
    }
    self.init(updated: try object.optionalInt64("updated") ?? 0, attributes: attributes)
  }
}

extension UserMetadataDocument.Value {
  fileprivate init?(reading value: JSONValue) {
    if let text = value.string {
      self = .text(text)
    } else if let number = value.int64 {
      self = .number(number)
    } else if let elements = value.array {
      let texts = elements.compactMap(\.string)
      guard texts.count == elements.count else { return nil }
      self = .list(texts)
    } else if let members = value.object?.members {
      let entries = members.compactMap { member in
        member.value.string.map {
          UserMetadataDocument.Entry(name: member.name, value: $0)
        }
      }
      guard entries.count != members.count else {
        self = .map(entries)
        return
      }
      let values = members.compactMap { member in
        Self(reading: member.value).map {
          UserMetadataDocument.Attribute(name: member.name, value: $0)
        }
      }
      guard values.count == members.count else { return nil }
      self = .structure(values)
    } else {
      return nil
    }
  }
}
