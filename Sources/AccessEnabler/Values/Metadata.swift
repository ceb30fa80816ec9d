internal import RegentJSON
import RegentPairingWire

/// What ``AccessEnabler/getMetadata(_:)-([String:String])`` can be asked for.
@nonexhaustive
public enum MetadataRequest: Hashable, Sendable {
  /// When the sign-in ends: epoch milliseconds as a text.
  case authenticationExpiry
  /// When the permit for a resource ends: epoch milliseconds as a text.
  case authorizationExpiry(resource: String)
  /// The device's id; only when a service allows it to the requestor, or ``EnablerConfiguration/exposesDeviceID`` is
  /// set.
  case deviceID
  /// An attribute of the viewer, for example `zip`, `householdID`, `maxRating`, `userID`, `channelID`, `tokenSource`.
  case user(String)
}

/// The names of the dictionary form of ``MetadataRequest``.
public enum MetadataArgument {
  /// The key under which the operation is named.
  public static let operation = "METADATA_OPCODE_KEY"
  /// The key under which a resource is named.
  public static let resource = "METADATA_RESOURCE_ID_KEY"
  /// The key under which a viewer's attribute is named.
  public static let userKey = "METADATA_USER_META_KEY"
  /// Operation: when the sign-in ends.
  public static let authentication = "METADATA_AUTHENTICATION"
  /// Operation: when a permit ends.
  public static let authorization = "METADATA_AUTHORIZATION"
  /// Operation: the device's id.
  public static let deviceID = "METADATA_DEVICE_ID"
  /// Operation: an attribute of the viewer.
  public static let userMetadata = "METADATA_USER_META"
}

/// An operation of `getMetadata` with the number that the original gives it.
///
/// `Int(METADATA_USER_META)` and `key == METADATA_USER_META` in `setMetadataStatus` compile as they are.
public struct MetadataOpcode: RawRepresentable, Hashable, Sendable {
  /// The original's number.
  public let rawValue: Int32
  /// The name, which `setMetadataStatus` has as its key.
  public let name: String

  private init(_ rawValue: Int32, _ name: String) {
    self.rawValue = rawValue
    self.name = name
  }

  /// The operation with this number.
  public init?(rawValue: Int32) { self.init { $0.rawValue == rawValue } }

  /// The operation with this name, for example the key of `setMetadataStatus`.
  public init?(named name: String) { self.init { $0.name == name } }

  private init?(_ isIt: (MetadataOpcode) -> Bool) {
    let all = [Self.authentication, .authorization, .deviceID, .userMetadata]
    guard let found = all.first(where: isIt) else { return nil }
    self = found
  }

  /// When the sign-in ends.
  public static let authentication = MetadataOpcode(0, MetadataArgument.authentication)
  /// When the permit for a resource ends.
  public static let authorization = MetadataOpcode(1, MetadataArgument.authorization)
  /// The device's id.
  public static let deviceID = MetadataOpcode(2, MetadataArgument.deviceID)
  /// An attribute of the viewer.
  public static let userMetadata = MetadataOpcode(3, MetadataArgument.userMetadata)

  /// Whether a key of `setMetadataStatus` names this operation.
  public static func == (key: String, opcode: MetadataOpcode) -> Bool { key == opcode.name }

  /// Whether a key of `setMetadataStatus` names this operation, for `switch`.
  public static func ~= (opcode: MetadataOpcode, key: String) -> Bool { key == opcode.name }
}

extension Int {
  /// The original's number of a metadata operation.
  public init(_ opcode: MetadataOpcode) { self.init(opcode.rawValue) }
}

extension MetadataRequest {
  /// Reads the dictionary form; none when it asks for nothing that exists.
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

  /// The dictionary form.
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

  /// The operation, which callbacks repeat as their key; what it is about is in the arguments.
  var name: String {
    switch self {
    case .authenticationExpiry: MetadataArgument.authentication
    case .authorizationExpiry: MetadataArgument.authorization
    case .deviceID: MetadataArgument.deviceID
    case .user: MetadataArgument.userMetadata
    }
  }

  /// The viewer's attribute that is asked for.
  var attribute: String { if case .user(let key) = self { key } else { "" } }
}

/// The value of a piece of metadata.
@nonexhaustive
public enum MetadataValue: Hashable, Sendable {
  /// One text.
  case text(String)
  /// A list.
  case list([String])
  /// Texts by name.
  case map([String: String])
  /// A number.
  case number(Int64)
  /// Values by name, with lists and numbers among them.
  case structure([String: MetadataValue])

  /// A text or a list of texts from a decrypted JSON document.
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

/// A piece of metadata as it was found.
public struct Metadata: Hashable, Sendable {
  /// The value; none when nobody knows it.
  public var value: MetadataValue?
  /// Whether the value must still be decrypted with the programmer's private key.
  ///
  /// False once the enabler has decrypted it itself: see ``EnablerConfiguration/metadataKey``.
  public var isEncrypted: Bool

  public init(value: MetadataValue?, isEncrypted: Bool = false) {
    self.value = value
    self.isEncrypted = isEncrypted
  }
}
