internal import RegentJSON
import RegentPairingWire

/// A piece of metadata that an app can ask for with ``AccessEnabler/getMetadata(_:)-([String:String])``.
@nonexhaustive
public enum MetadataRequest: Hashable, Sendable {
  /// The end of the sign-in. The value is a string with milliseconds since 1970.
  case authenticationExpiry
  /// The end of the permit (the stored authorization) for a resource. The value is a string with milliseconds since
  /// 1970.
  case authorizationExpiry(resource: String)
  /// The device's id.
  ///
  /// The enabler delivers it only if a service allows the requestor's apps to read it, or if
  /// ``EnablerConfiguration/exposesDeviceID`` is set.
  case deviceID
  /// An attribute of the viewer, for example `zip`, `householdID`, `maxRating`, `userID`, `channelID`, `tokenSource`.
  case user(String)
}

/// The keys and values of the dictionary form of ``MetadataRequest``.
public enum MetadataArgument {
  /// The dictionary's key for the operation.
  public static let operation = "METADATA_OPCODE_KEY"
  /// The dictionary's key for the resource of an operation.
  public static let resource = "METADATA_RESOURCE_ID_KEY"
  /// The dictionary's key for the name of a viewer's attribute.
  public static let userKey = "METADATA_USER_META_KEY"
  /// The operation that asks when the sign-in ends.
  public static let authentication = "METADATA_AUTHENTICATION"
  /// The operation that asks when the permit (the stored authorization) for a resource ends.
  public static let authorization = "METADATA_AUTHORIZATION"
  /// The operation that asks for the device's id.
  public static let deviceID = "METADATA_DEVICE_ID"
  /// The operation that asks for an attribute of the viewer.
  public static let userMetadata = "METADATA_USER_META"
}

/// An operation of `getMetadata`, with its number in the original SDK.
///
/// With this type, `Int(METADATA_USER_META)` and `key == METADATA_USER_META` in `setMetadataStatus` compile unchanged.
public struct MetadataOpcode: RawRepresentable, Hashable, Sendable {
  /// The operation's number in the original SDK.
  public let rawValue: Int32
  /// The operation's name, which `setMetadataStatus` delivers as its key.
  public let name: String

  private init(_ rawValue: Int32, _ name: String) {
    self.rawValue = rawValue
    self.name = name
  }

  /// The operation with this number; nil if there is none.
  public init?(rawValue: Int32) { self.init { $0.rawValue == rawValue } }

  /// The operation with this name, such as the key of `setMetadataStatus`; nil if there is none.
  public init?(named name: String) { self.init { $0.name == name } }

  private init?(_ isIt: (MetadataOpcode) -> Bool) {
    let all = [Self.authentication, .authorization, .deviceID, .userMetadata]
    guard let found = all.first(where: isIt) else { return nil }
    self = found
  }

  /// Asks when the sign-in ends.
  public static let authentication = MetadataOpcode(0, MetadataArgument.authentication)
  /// Asks when the permit (the stored authorization) for a resource ends.
  public static let authorization = MetadataOpcode(1, MetadataArgument.authorization)
  /// Asks for the device's id.
  public static let deviceID = MetadataOpcode(2, MetadataArgument.deviceID)
  /// Asks for an attribute of the viewer.
  public static let userMetadata = MetadataOpcode(3, MetadataArgument.userMetadata)

  /// Whether a key of `setMetadataStatus` names this operation.
  public static func == (key: String, opcode: MetadataOpcode) -> Bool { key == opcode.name }

  /// Whether a key of `setMetadataStatus` names this operation, for use in `switch`.
  public static func ~= (opcode: MetadataOpcode, key: String) -> Bool { key == opcode.name }
}

extension Int {
  /// The number of a metadata operation in the original SDK.
  public init(_ opcode: MetadataOpcode) { self.init(opcode.rawValue) }
}

extension MetadataRequest {
  /// Parses the dictionary form of a metadata request; nil if the operation or its argument is missing or unknown.
  public init?(_ arguments: [String: String]) {
    switch arguments[MetadataArgument.operation] {
    case MetadataArgument.authentication: self = .authenticationExpiry
    case MetadataArgument.authorization:
      guard let resource = arguments[MetadataArgument.resource] else { return nil }
      self = .authorizationExpiry(resource: resource)
    case MetadataArgument.deviceID: self = .deviceID
    case MetadataArgument.userMetadata:
      guard let key = arguments[MetadataArgument.userKey] else { return nil }
      self = .user(key)
    default: return nil
    }
  }

  /// The dictionary form of this metadata request.
  public var arguments: [String: String] {
    switch self {
    case .authenticationExpiry: [MetadataArgument.operation: MetadataArgument.authentication]
    case .authorizationExpiry(let resource):
      [
        MetadataArgument.operation: MetadataArgument.authorization,
        MetadataArgument.resource: resource,
      ]
    case .deviceID: [MetadataArgument.operation: MetadataArgument.deviceID]
    case .user(let key):
      [
        MetadataArgument.operation: MetadataArgument.userMetadata, MetadataArgument.userKey: key,
      ]
    }
  }

  /// The operation's name, which callbacks deliver as their key.
  var name: String {
    switch self {
    case .authenticationExpiry: MetadataArgument.authentication
    case .authorizationExpiry: MetadataArgument.authorization
    case .deviceID: MetadataArgument.deviceID
    case .user: MetadataArgument.userMetadata
    }
  }

  /// The name of the requested viewer attribute; empty for other operations.
  var attribute: String { if case .user(let key) = self { key } else { "" } }
}

/// The value of a piece of metadata.
@nonexhaustive
public enum MetadataValue: Hashable, Sendable {
  case text(String)
  case list([String])
  /// The value is a dictionary of strings.
  case map([String: String])
  case number(Int64)
  /// A dictionary whose values may be lists, numbers or dictionaries.
  case structure([String: MetadataValue])

  /// Reads a string or a list of strings from a decrypted JSON document; nil for other JSON.
  init?(json: [UInt8]) {
    guard let value = try? JSONValue(reading: json, limits: JSONLimits(depth: 2, bytes: 65_536)) else { return nil }
    if let text = value.string {
      self = .text(text)
    } else if let texts = value.array.map({ $0.compactMap(\.string) }), texts.count == value.array?.count {
      self = .list(texts)
    } else {
      return nil
    }
  }

  init(_ value: UserMetadataDocument.Value) {
    switch value {
    case .text(let text): self = .text(text)
    case .list(let texts): self = .list(texts)
    case .number(let number): self = .number(number)
    case .structure(let members):
      self = .structure(
        Dictionary(
          members.map { ($0.name, MetadataValue($0.value)) }, uniquingKeysWith: { _, last in last }))
    case .map(let entries):
      self = .map(
        Dictionary(entries.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last }))
    }
  }
}

/// A piece of metadata, with its value if it is known.
public struct Metadata: Hashable, Sendable {
  /// The value of the metadata; nil if it is not known.
  public var value: MetadataValue?
  /// Whether the app must decrypt the value with the publisher's private key.
  ///
  /// False if the enabler has decrypted it with ``EnablerConfiguration/metadataKey``.
  public var isEncrypted: Bool

  public init(value: MetadataValue?, isEncrypted: Bool = false) {
    self.value = value
    self.isEncrypted = isEncrypted
  }
}
