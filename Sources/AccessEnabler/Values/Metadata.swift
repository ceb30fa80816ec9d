import RegentPairingWire

/// What ``AccessEnabler/getMetadata(_:)`` can be asked for.
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
